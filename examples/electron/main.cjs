// Electron's main process: the package lives here, the page in a sandbox of its own.

const { join } = require('node:path')
const { app, BrowserWindow, dialog, ipcMain, Menu, protocol, screen, shell } = require('electron')
const { createAgent } = require('./agent.cjs')
const { readJson, writeJson } = require('./json-file.cjs')
const { pageFile } = require('./page-files.cjs')
const { folderProblem } = require('./work-folder.cjs')

const PAGE = 'app://window/'
const SIZE = { width: 1100, height: 800 }

let agent
let window
const settingsFile = () => join(app.getPath('userData'), 'settings.json')
const settings = () => readJson(settingsFile()) ?? {}
const keep = (changes) => writeJson(settingsFile(), { ...settings(), ...changes })

/** Asks for the folder that the agent works in; nothing if the user does not choose one. */
async function chooseFolder() {
  for (;;) {
    const { filePaths } = await dialog.showOpenDialog({
      title: 'Choose the folder that the agent works in',
      properties: ['openDirectory', 'createDirectory'],
    })
    const [folder] = filePaths
    const problem = folder === undefined ? undefined : folderProblem(folder)
    if (problem === undefined) return folder
    dialog.showErrorBox('Choose another folder', `The agent does not work in ${folder}. ${problem}`)
  }
}

async function startAgent(cwd) {
  await agent?.close()
  agent = createAgent({
    dataDir: app.getPath('userData'),
    cwd,
    openPath: async (path) => {
      const problem = await shell.openPath(path)
      if (problem) throw new Error(problem)
    },
  })
  agent.listen((event) => {
    if (window && !window.isDestroyed()) window.webContents.send('spillway:event', event)
  })
  keep({ folder: cwd })
}

async function changeFolder() {
  const folder = await chooseFolder()
  if (folder === undefined) return
  await startAgent(folder)
  if (window) window.reload()
  else openWindow()
}

/** The bounds of the last window, if a display still shows them. */
function lastBounds() {
  const { bounds } = settings()
  if (bounds === undefined) return SIZE
  const { x, y, width, height } = screen.getDisplayMatching(bounds).workArea
  const isVisible = bounds.x < x + width && bounds.x + bounds.width > x && bounds.y >= y && bounds.y < y + height
  return isVisible ? bounds : SIZE
}

function openWindow() {
  window = new BrowserWindow({
    ...lastBounds(),
    minWidth: 380,
    minHeight: 320,
    webPreferences: {
      preload: join(__dirname, 'preload.cjs'),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
    },
  })
  // The page shows what tools printed: it never leads anywhere else.
  window.webContents.on('will-navigate', (event) => event.preventDefault())
  window.webContents.setWindowOpenHandler(() => ({ action: 'deny' }))
  window.on('close', () => keep({ bounds: window.getNormalBounds() }))
  window.on('closed', () => {
    window = undefined
  })
  window.loadURL(PAGE)
}

function showMenu() {
  const folder = { label: 'Choose Folder…', accelerator: 'CmdOrCtrl+O', click: changeFolder }
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      ...(process.platform === 'darwin' ? [{ role: 'appMenu' }] : []),
      { label: 'File', submenu: [folder, { type: 'separator' }, { role: 'close' }, { role: 'quit' }] },
      { role: 'editMenu' },
      { role: 'viewMenu' },
      { role: 'windowMenu' },
    ]),
  )
}

async function start() {
  protocol.handle('app', async (request) => {
    const file = await pageFile(new URL(request.url).pathname)
    return file ? new Response(file.content, { headers: file.headers }) : new Response('', { status: 404 })
  })
  ipcMain.handle('spillway:call', (event, name, args) => {
    if (!event.senderFrame?.url.startsWith(PAGE)) throw new Error('Only the page of the application may call.')
    return agent.call(name, args)
  })
  showMenu()
  const { folder: last } = settings()
  const folder = last !== undefined && folderProblem(last) === undefined ? last : await chooseFolder()
  if (folder === undefined) return app.quit()
  await startAgent(folder)
  openWindow()
  // On macOS an application stays without windows, and opens one when its icon is clicked.
  app.on('activate', () => window ?? openWindow())
}

function showWindow() {
  if (window?.isMinimized()) window.restore()
  window?.focus()
}

// Two processes would write the same conversation.
if (app.requestSingleInstanceLock()) {
  protocol.registerSchemesAsPrivileged([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ])
  app.on('second-instance', showWindow)
  app.on('window-all-closed', () => process.platform === 'darwin' || app.quit())
  app.on('will-quit', (event) => {
    if (agent === undefined) return
    event.preventDefault()
    const closing = agent.close()
    agent = undefined
    closing.finally(() => app.quit())
  })
  module.exports = { started: app.whenReady().then(start) }
} else {
  app.quit()
}
