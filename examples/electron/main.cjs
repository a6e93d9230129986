// Electron's main process: the package lives here, the page in a sandbox of its own.

const { join } = require('node:path')
const { app, BrowserWindow, dialog, ipcMain, shell } = require('electron')
const { createAgent, isWorkFolder } = require('./agent.cjs')

/** The folder that the agent works in: it may read and write there without asking, so the user chooses it. */
async function chooseFolder() {
  for (;;) {
    const { filePaths } = await dialog.showOpenDialog({
      title: 'Which folder shall the agent work in?',
      properties: ['openDirectory', 'createDirectory'],
    })
    const [folder] = filePaths
    if (folder === undefined || isWorkFolder(folder)) return folder
    dialog.showErrorBox('Choose another folder', `${folder} holds more than one project; choose a folder in it.`)
  }
}

app.whenReady().then(async () => {
  const cwd = await chooseFolder()
  if (cwd === undefined) return app.quit()
  const agent = createAgent({
    dataDir: app.getPath('userData'),
    cwd,
    openPath: async (path) => {
      const problem = await shell.openPath(path)
      if (problem) throw new Error(problem)
    },
  })
  const window = new BrowserWindow({
    width: 1100,
    height: 800,
    webPreferences: {
      preload: join(__dirname, 'preload.cjs'),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
    },
  })
  ipcMain.handle('spillway:call', (_event, name, args) => agent.call(name, args))
  const stop = agent.listen((event) => {
    if (!window.isDestroyed()) window.webContents.send('spillway:event', event)
  })
  // The page shows what tools printed: it never leads anywhere else.
  window.webContents.on('will-navigate', (event) => event.preventDefault())
  window.webContents.setWindowOpenHandler(() => ({ action: 'deny' }))
  window.loadFile(join(__dirname, 'page', 'index.html'))
  app.on('window-all-closed', async () => {
    stop()
    await agent.close()
    app.quit()
  })
})
