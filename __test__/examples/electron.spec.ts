import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, parse } from 'node:path'

const EXAMPLE = join(__dirname, '..', '..', 'examples', 'electron')

type Call = (name: string, args?: object) => Promise<{ value?: unknown; error?: { code: string; message: string } }>

interface Window extends EventEmitter {
  options: Record<string, unknown>
  address?: string
  isFocused?: boolean
  reloads: number
}

let data: string
let project: string

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'spillway-window-'))
  project = join(data, 'project')
  mkdirSync(project)
})

afterEach(() => {
  jest.resetModules()
  rmSync(data, { recursive: true, force: true })
})

/** Electron as far as the main process uses it, without a display. */
function standIn({ chosen = [] as string[], isFirst = true } = {}) {
  const windows: Window[] = []
  const handlers = new Map<string, (...args: never[]) => unknown>()
  const said: string[] = []
  let menu: { label?: string; role?: string; submenu?: { label?: string; click?: () => Promise<void> }[] }[] = []
  let quits = 0
  class BrowserWindow extends EventEmitter {
    webContents = Object.assign(new EventEmitter(), { setWindowOpenHandler: () => {}, send: () => {} })
    reloads = 0
    isFocused = false
    constructor(readonly options: Record<string, unknown>) {
      super()
      windows.push(this)
    }
    loadURL(address: string) {
      Object.assign(this, { address })
    }
    reload() {
      this.reloads += 1
    }
    focus() {
      this.isFocused = true
    }
    isDestroyed = () => false
    isMinimized = () => false
    getNormalBounds = () => ({ x: 40, y: 50, width: 700, height: 500 })
  }
  const app = Object.assign(new EventEmitter(), {
    getPath: () => data,
    requestSingleInstanceLock: () => isFirst,
    whenReady: async () => {},
    quit: () => {
      quits += 1
    },
  })
  const electron = {
    app,
    BrowserWindow,
    dialog: {
      showOpenDialog: async () => ({ filePaths: chosen.splice(0, 1) }),
      showErrorBox: (_title: string, text: string) => said.push(text),
    },
    ipcMain: { handle: (name: string, handler: (...args: never[]) => unknown) => handlers.set(name, handler) },
    Menu: {
      buildFromTemplate: (template: typeof menu) => template,
      setApplicationMenu: (template: typeof menu) => {
        menu = template
      },
    },
    protocol: {
      registerSchemesAsPrivileged: () => {},
      handle: (name: string, handler: (...args: never[]) => unknown) => handlers.set(name, handler),
    },
    screen: { getDisplayMatching: () => ({ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }) },
    shell: { openPath: async () => '' },
  }
  const bridge = (address: string) =>
    handlers.get('spillway:call')?.bind(undefined, ...([{ senderFrame: { url: address } }] as never[])) as Call
  return { electron, app, windows, said, handlers, bridge, menuOf: () => menu, quits: () => quits }
}

async function start(host: ReturnType<typeof standIn>) {
  jest.resetModules()
  jest.doMock('electron', () => host.electron, { virtual: true })
  await require(join(EXAMPLE, 'main.cjs')).started
}

/** Quits, and waits until the stores are closed. */
async function quit({ app, quits }: ReturnType<typeof standIn>) {
  const before = quits()
  app.emit('will-quit', { preventDefault: () => {} })
  while (quits() === before) await new Promise(setImmediate)
}

describe('the main process', () => {
  test('asks for a folder, and takes neither the home folder nor the root', async () => {
    const host = standIn({ chosen: [homedir(), parse(homedir()).root, project] })
    await start(host)
    expect(host.said).toEqual([
      expect.stringMatching(/^The agent does not work in .*\. It is your home folder\.$/),
      expect.stringMatching(/^The agent does not work in .*\. It is the root of a drive\.$/),
    ])
    expect(host.windows.map(({ address }) => address)).toEqual(['app://window/'])
    const { value } = await host.bridge('app://window/')('state')
    expect(value).toEqual({ mode: 'agent', cwd: project, messages: [] })
    await quit(host)
  })

  test('quits if no folder is chosen', async () => {
    const host = standIn()
    await start(host)
    expect([host.windows.length, host.quits()]).toEqual([0, 1])
  })

  test('keeps the folder and the bounds of the window', async () => {
    const first = standIn({ chosen: [project] })
    await start(first)
    expect(first.windows[0]?.options).toMatchObject({ width: 1100, height: 800 })
    first.windows[0]?.emit('close')
    await quit(first)
    const second = standIn()
    await start(second)
    expect(second.windows[0]?.options).toMatchObject({ x: 40, y: 50, width: 700, height: 500 })
    await quit(second)
  })

  test('opens a window again on activate, and shows it for a second start', async () => {
    const host = standIn({ chosen: [project] })
    await start(host)
    host.app.emit('activate')
    expect(host.windows).toHaveLength(1)
    host.app.emit('second-instance')
    expect(host.windows[0]?.isFocused).toBe(true)
    host.windows[0]?.emit('closed')
    host.app.emit('activate')
    expect(host.windows).toHaveLength(2)
    await quit(host)
  })

  test('a second process leaves at once', async () => {
    const host = standIn({ isFirst: false })
    await start(host)
    expect([host.windows.length, host.quits(), host.handlers.size]).toEqual([0, 1, 0])
  })

  test('changes the folder from the menu', async () => {
    const other = join(data, 'other')
    mkdirSync(other)
    const host = standIn({ chosen: [project, other] })
    await start(host)
    const file = host.menuOf().find(({ label }) => label === 'File')
    await file?.submenu?.find(({ label }) => label === 'Choose Folder…')?.click?.()
    expect(host.windows[0]?.reloads).toBe(1)
    expect((await host.bridge('app://window/')('state')).value).toMatchObject({ cwd: other })
    await quit(host)
  })

  test('answers only the page of the application', async () => {
    const host = standIn({ chosen: [project] })
    await start(host)
    expect(() => host.bridge('https://example.com/')('state')).toThrow('Only the page of the application may call.')
    const serve = host.handlers.get('app') as unknown as (request: { url: string }) => Promise<Response>
    const page = await serve({ url: 'app://window/' })
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('<spillway-approval>')
    // A page imports it: what `require` would load defines nothing there.
    const components = await (await serve({ url: 'app://window/ui.mjs' })).text()
    expect(components.includes('export{')).toBe(true)
    expect((await serve({ url: 'app://window/../main.cjs' })).status).toBe(404)
    await quit(host)
  })
})

describe('the packaging recipe', () => {
  const { build, main } = JSON.parse(readFileSync(join(EXAMPLE, 'package.json'), 'utf8'))

  test('packs every file that the main process requires', () => {
    const packed = (file: string) => build.files.includes('*.cjs') && dirname(file) === EXAMPLE && file.endsWith('.cjs')
    const seen = new Set<string>()
    const visit = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      expect([file, packed(file)]).toEqual([file, true])
      const text = readFileSync(file, 'utf8')
      for (const [, name] of text.matchAll(/(?:require\(|__dirname, )'(?:\.\/)?([\w-]+\.cjs)'/g)) {
        visit(join(EXAMPLE, name as string))
      }
    }
    visit(join(EXAMPLE, main))
    expect(seen.size).toBeGreaterThan(5)
    expect(build.files).toContain('page/**')
  })

  test('leaves the binary of every platform outside of the archive', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(EXAMPLE, '..', '..', 'package.json'), 'utf8'))
    for (const name of Object.keys(optionalDependencies ?? {})) expect(name).toMatch(/^spillway-/)
    expect(build).toMatchObject({ asar: true, asarUnpack: ['**/*.node'] })
  })
})

describe('the agent', () => {
  const createAgent = () => {
    const { createAgent } = require(join(EXAMPLE, 'agent.cjs'))
    return createAgent({ dataDir: data, cwd: project, openPath: () => {} }) as {
      call: Call
      listen(listener: (event: { type: string; message?: { status: string } }) => void): () => void
      close(): Promise<void>
    }
  }

  test.each([
    [dirname(homedir()), 'Your home folder is in it.'],
    [join(homedir(), '.ssh'), 'It holds settings or keys of programs.'],
    [join(tmpdir(), 'no-such-folder'), 'It is not a folder.'],
  ])('does not work in %s', (cwd, problem) => {
    const { folderProblem } = require(join(EXAMPLE, 'work-folder.cjs'))
    const isRoot = cwd === parse(cwd).root
    expect(folderProblem(cwd)).toBe(isRoot ? 'It is the root of a drive.' : problem)
  })

  test('does not work in a folder that a link to the home folder or the root leads to', () => {
    const { folderProblem } = require(join(EXAMPLE, 'work-folder.cjs'))
    for (const [at, [target, problem]] of [
      [homedir(), 'It is your home folder.'],
      [parse(homedir()).root, 'It is the root of a drive.'],
    ].entries()) {
      const link = join(mkdtempSync(join(tmpdir(), 'spillway-link-')), `link-${at}`)
      symlinkSync(target!, link)
      expect(folderProblem(link)).toBe(problem)
    }
  })

  test('starts with a conversation that cannot be read', async () => {
    writeFileSync(join(data, 'conversation.json'), '{"cwd":')
    const agent = createAgent()
    expect((await agent.call('state')).value).toMatchObject({ messages: [] })
    await agent.close()
  })

  test('ends what runs when it is closed, and says so in the next run', async () => {
    const agent = createAgent()
    const isRunning = new Promise<void>((resolve) => {
      agent.listen(({ message }) => message?.status === 'running' && resolve())
    })
    const { value } = (await agent.call('setMode', { mode: 'full_access' })) as { value: { confirmationId: string } }
    await agent.call('confirmMode', value)
    const ended = agent.call('runTool', { command: 'echo begun; sleep 600; touch late' })
    await isRunning
    await agent.close()
    await ended
    expect(existsSync(join(project, 'late'))).toBe(false)
    const next = createAgent()
    const state = (await next.call('state')).value as { messages: { status: string }[] }
    expect(state.messages.map(({ status }) => status)).toEqual(['stopped'])
    await next.close()
  })
})
