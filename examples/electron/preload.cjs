// The bridge: two functions and nothing else reach the page.

const { contextBridge, ipcRenderer } = require('electron')

contextBridge.exposeInMainWorld('bridge', {
  call: (name, args) => ipcRenderer.invoke('spillway:call', name, args),
  listen(listener) {
    ipcRenderer.on('spillway:event', (_event, value) => listener(value))
  },
})
