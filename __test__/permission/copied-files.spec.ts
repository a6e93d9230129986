import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PermissionPolicy } from 'spillway'

describe('files that a command puts into a folder', () => {
  let vault: string
  let policy: PermissionPolicy
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(vault, path)), { recursive: true })
    writeFileSync(join(vault, path), text)
  }
  const decide = (command: string) => policy.evaluate({ tool: 'bash', args: { command } }).decision

  beforeEach(() => {
    vault = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-copied-')))
    for (const path of ['x/secret.ts', 'x/a.ts', 'x/HEAD', 'x/.bashrc', 'y/a.ts', 'd/b.ts', 'a.ts', 'package.json']) {
      put(path, 'x')
    }
    mkdirSync(join(vault, 'empty'))
    symlinkSync(join(vault, 'd'), join(vault, 'led'))
    symlinkSync(join(vault, 'd/secret.ts'), join(vault, 'y/led'))
    policy = new PermissionPolicy({
      vault,
      rules: [
        { domain: 'bash', pattern: '*', decision: 'allow' },
        { domain: 'edit', pattern: 'vault:/**', decision: 'allow' },
        { domain: 'edit', pattern: 'vault:/d/secret.ts', decision: 'deny' },
        { domain: 'edit', pattern: 'vault:/empty/secret.ts', decision: 'deny' },
        { domain: 'edit', pattern: '**/package.json', decision: 'deny' },
      ],
    })
  })
  afterEach(() => rmSync(vault, { recursive: true }))

  test.each([
    'cp x/secret.ts d',
    'cp x/secret.ts d/',
    'cp -f -- x/secret.ts d',
    'cp x/a.ts x/secret.ts d',
    'cp x/secret.ts empty',
    'cp -t d x/secret.ts',
    'cp -ft d x/secret.ts',
    'cp -td x/secret.ts',
    'cp --target-directory=d x/secret.ts',
    'cp --target-directory d x/secret.ts',
    'cp --targ d x/secret.ts',
    'cp x/* d',
    'cp x/sec* d',
    'cp -r x/. d',
    'cd d && cp ../x/secret.ts .',
    'cd x && cp secret.ts ../d',
    'mv x/secret.ts d',
    'mv -t d x/secret.ts',
    'git mv x/secret.ts d',
    'ln -sf ../x/secret.ts d',
    'cd d && ln -sf ../x/secret.ts',
    'install x/secret.ts d',
    'install -m 644 x/secret.ts d',
    'install -m 644 -t d x/secret.ts',
    'rsync -a x/secret.ts d/',
    'rsync -a x/ d',
    'scp x/secret.ts d',
    'cp x/secret.ts led',
    'cp x/secret.ts y && cp y/secret.ts d',
    'mkdir -p n && cp x/secret.ts n && cp n/secret.ts d',
    'cp a.ts package.json',
    'cp y/package.json d',
    'cp a.ts y/led',
    'for f in x/secret.ts; do cp $f d; done',
  ])('are denied by what a rule says about them: %s', (command) => {
    expect(decide(command)).not.toBe('allow')
  })

  test.each([
    'cp x/a.ts d',
    'cp x/a.ts x/HEAD.md d',
    'cp y/*.ts d',
    'cp x/secret.ts y',
    'cp x/secret.ts y/secret.ts',
    'cp x/secret.ts d.ts',
    'cp -r y d',
    'mv y/a.ts d',
    'cp -T a.ts d2',
    'ln -s y/a.ts d',
    'install -m 644 y/a.ts d',
    'rsync -a y/a.ts d/',
    'scp y/a.ts d',
    'cp -r y n && cp a.ts n',
  ])('are allowed where no rule is about them: %s', (command) => {
    expect(decide(command)).toBe('allow')
  })

  test('a name that becomes the file itself is judged by that name', () => {
    const only = new PermissionPolicy({
      vault,
      rules: [
        { domain: 'bash', pattern: '*', decision: 'allow' },
        { domain: 'edit', pattern: '**/a.ts', decision: 'deny' },
      ],
    })
    const of = (command: string) => only.evaluate({ tool: 'bash', args: { command } }).decision
    expect(of('cp a.ts b.ts')).toBe('allow')
    expect(of('cp a.ts d/b.ts')).toBe('allow')
    expect(of('cp a.ts d')).toBe('deny')
    expect(of('mkdir -p n/m && cp a.ts n')).toBe('deny')
    expect(of('cp a.ts n && mkdir -p n/m')).toBe('deny')
  })

  test.each([
    'cp x/HEAD d',
    'cp x/* y',
    'cp -r x/. y',
    'rsync -a x/ y',
    'mkdir -p n/objects n/refs && cp x/HEAD n && printf "[core]" > n/config && cd n && git status',
    'mkdir -p n/objects n/refs && cp x/H* n && printf "[core]" > n/config && cd n && git status',
    'mkdir -p n/objects n/refs && cp -t n x/HEAD && printf "[core]" > n/config && cd n && git status',
    'mkdir -p n/objects n/refs && mv x/HEAD n && printf "[core]" > n/config && cd n && git status',
    'mkdir -p n/objects n/refs && cd n && cp ../x/HEAD . && printf "[core]" > config && git status',
    'mkdir -p n/objects n/refs && cd n && ln -s ../x/HEAD && printf "[core]" > config && git status',
    'cp x/.bashrc d',
  ])('are asked about where they say what runs later: %s', (command) => {
    expect(decide(command)).toBe('ask')
  })

  test.each(['cp x/passwd /etc', 'mv x/shadow /etc/', 'cp -t /etc x/sudoers', 'install x/bash /bin'])(
    'are denied in every mode where they are files of the machine: %s',
    (command) => {
      const open = new PermissionPolicy({ vault })
      expect(open.evaluate({ tool: 'bash', args: { command }, mode: 'full_access' }).decision).toBe('deny')
    },
  )
})
