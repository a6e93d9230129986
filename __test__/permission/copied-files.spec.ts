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
  const decide = (command: string, by = policy) => by.evaluate({ tool: 'bash', args: { command } }).decision
  const decideInFullAccess = (command: string) =>
    new PermissionPolicy({ vault }).evaluate({ tool: 'bash', args: { command }, mode: 'full_access' }).decision

  // No test changes the folder.
  beforeAll(() => {
    vault = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-copied-')))
    for (const path of ['x/secret.ts', 'x/a.ts', 'x/HEAD', 'x/.bashrc', 'y/a.ts', 'd/b.ts', 'a.ts', 'package.json']) {
      put(path, 'x')
    }
    for (const path of ['s/d/secret.ts', 'd/sub/e.ts', 'z/b.ts', '.git/info/exclude']) put(path, 'x')
    for (const path of ['x/etc/passwd', 'x/passwd']) put(path, 'x')
    for (let at = 0; at < 1500; at++) put(`many/${at}.svg`, '')
    symlinkSync(join(vault, 'd/sub'), join(vault, 'deep'))
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
  afterAll(() => rmSync(vault, { recursive: true }))

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
    'cp -ST x/secret.ts d',
    'install -oTom x/secret.ts d',
    'cp -- x/secret.ts -T d',
    `cp ${'a.ts '.repeat(1900)}x/secret.ts d`,
    'cp -r s/d .',
    'cp -rT s .',
    'cp -rT s/d d',
    'rsync -a s/ .',
    'rsync -a -ershn x/secret.ts d',
    'rsync -a -e -n x/secret.ts d',
    'rsync -a -T/tmp/n x/secret.ts d',
    'rsync -a --rsh -n x/secret.ts d',
    'rsync -an --no-n x/secret.ts d',
    'rsync -a -- x/secret.ts -n d',
    'rsync -a --include=secret.ts --exclude=secret.ts x/ d',
    'rsync -a --filter="+ secret.ts" --exclude=secret.ts x/ d',
    'rsync -a -e --exclude=secret.ts x/ d',
    'rsync -aR x/./secret.ts d',
    'rsync -aR --no-R x/secret.ts d',
    'cp */secret.ts d',
    'cp x/secret.ts d*',
    'cp x/secret.ts ./[d]',
    'scp host:secret.ts d',
    'rsync -a host:x/secret.ts d/',
    'docker cp c:/x/secret.ts d',
    'kubectl cp ns/pod:/x/secret.ts d',
    'curl -O --output-dir d https://h.example/secret.ts',
    'wget -P d https://h.example/secret.ts',
    'ln -s d n && cp x/secret.ts n',
    'cp x/secret.ts deep/..',
    'cd deep && cp ../../x/secret.ts ..',
    'cp x/secret.ts z && cp -r z/. d',
    'mv x/secret.ts z && mv z/* d',
    'mkdir q && cp x/secret.ts q && cp q/* d',
    'gcp x/secret.ts d',
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
    'cp many/*.svg d',
    'cp -r many/. d',
    'rsync -a many/ d/',
    'git mv many/*.svg d',
    'npm run build && cp -r unbuilt/. y',
    'cp -r empty/. d/',
    'mkdir gen && echo a > gen/a.ts && cp -r gen/. d/',
    'rsync -an x/ d/',
    'rsync -av --delete --dry-run x/ d/',
    'rsync -a --exclude secret.ts --exclude=HEAD --exclude=.bashrc x/ d/',
    'rsync -a --exclude=secret.ts --exclude HEAD --exclude .bashrc x/ d/',
    'cp -r .git/info y',
    'scp x/secret.ts host:',
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
    expect(decide('cp a.ts b.ts', only)).toBe('allow')
    expect(decide('cp a.ts d/b.ts', only)).toBe('allow')
    expect(decide('cp a.ts d', only)).toBe('deny')
    expect(decide('mkdir -p n/m && cp a.ts n', only)).toBe('deny')
    expect(decide('cp a.ts n && mkdir -p n/m', only)).toBe('deny')
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

  test('a folder that is copied is judged with what is in it, at once and in one sentence', () => {
    for (let at = 0; at < 4200; at++) put(`huge/${at}.ts`, '')
    for (const command of [
      'cp -r huge/. d',
      `${'cp -r huge/. d; '.repeat(200)}ls`,
      `cp ${'huge/*3*7 '.repeat(300)}d`,
    ]) {
      const began = process.hrtime.bigint()
      const { reasons } = policy.evaluate({ tool: 'bash', args: { command } })
      expect(Number(process.hrtime.bigint() - began) / 1e6).toBeLessThan(2000)
      expect(reasons.length).toBeLessThan(5)
    }
  })

  test('a rule about what is only among others that are copied is asked about', () => {
    expect(decide('cp x/secret.ts d')).toBe('deny')
    expect(decide('cp -r x/. d')).toBe('ask')
    expect(decide('rsync -a x/ d')).toBe('ask')
  })

  test.each([
    'cp x/passwd /etc',
    'cp -r x/etc /',
    'rsync -a x/etc/ /etc/',
    'cp x/p* /etc',
    'cp $X/passwd /etc',
    'cp x/passwd /et?',
    'scp h:passwd /etc',
    'cp -ST x/passwd /etc',
    'cp --pare etc/passwd /',
    'mv x/shadow /etc/',
    'cp -t /etc x/sudoers',
    'install x/bash /bin',
    'find x -name passwd -exec cp {} /etc \\;',
    'find x -type f -name shadow -exec cp -f {} /etc/ \\;',
    'find . -name sudoers -exec cp -t /etc {} +',
    'find . -path "*/etc/passwd" -exec mv {} /etc ";"',
    'find x -exec cp {} /etc \\;',
    'find x -name "p*" -execdir cp {} /etc \\;',
    'fd . x -x cp {} /etc',
    'fd passwd x -x cp -t /etc',
    'find y -iname passwd -exec cp {} /etc \\;',
    'find y -name a -o -iname PASSWD -exec cp {} /etc \\;',
    "find y -name 'passw[d]' -exec cp {} /etc \\;",
    "find y -regex '.*/passwd' -exec cp {} /etc \\;",
    'find y -name 1 -o -name 2 -o -name 3 -o \\( -name 4 -o -name 5 -o -name 6 -o -name 7 -o -name 8 -o -name passwd \\) -exec cp {} /etc \\;',
    'find y -name passwd -exec env cp {} /etc \\;',
    'find y -name passwd -exec timeout 9 nice cp {} /etc \\;',
    'fd -g passwd y -x cp {} /etc',
    'fd passwd y -X cp -t /etc',
  ])('are denied in every mode where they are files of the machine: %s', (command) => {
    expect(decideInFullAccess(command)).toBe('deny')
  })

  test.each([
    'find x -name a.ts -exec cp {} /etc \\;',
    'find d -exec cp {} /etc \\;',
    'find x -name passwd -exec cp {} d \\;',
    'find x -name passwd -exec cat {} \\;',
    'find y -type f ! -name passwd -exec cp {} /etc \\;',
    "find y -name '*.conf' -exec cp {} /etc/app \\;",
    'fd . d -x cp {} /etc',
  ])('are not denied where they are other files: %s', (command) => {
    expect(decideInFullAccess(command)).toBe('allow')
  })
})
