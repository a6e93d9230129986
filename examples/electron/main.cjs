// Electron's main process: the package lives here, the page in a sandbox of its own.

const { join } = require('node:path')
const { app, BrowserWindow, ipcMain, shell } = require('electron')
const { createAgent } = require('./agent.cjs')

app.whenReady().then(() => {
  const agent = createAgent({
    dataDir: app.getPath('userData'),
    cwd: app.getPath('home'),
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
