import { PermissionPolicy } from 'spillway'

/** Judges a command where rules allow all calls of its programs. */
function decide(command: string, ...programs: string[]): string {
  const patterns = [...programs, 'cat', 'echo', 'printf'].map((program) => `${program} *`)
  const rules = patterns.map((pattern) => ({ domain: 'bash', pattern, decision: 'allow' }) as const)
  return new PermissionPolicy({ vault: '/home/u/project', rules }).evaluate({ tool: 'bash', args: { command } })
    .decision
}

/** Commands that pass input to an interpreter elsewhere, by the program that passes it. */
const asked: Record<string, string[]> = {
  ssh: [
    'echo evil | ssh h',
    'echo evil | ssh h sh',
    'ssh h bash < x.sh',
    'ssh h <<< evil',
    'ssh h python3 - < a.py',
    'ssh h < x',
    'cat a b | ssh -T u@h',
    '{ echo a; echo evil; } | ssh h',
    '(ssh h) < x',
    'echo evil | { ssh h; }',
  ],
  docker: [
    'echo evil | docker exec -i c sh',
    'docker run -i alpine sh < x',
    'echo x | docker run --rm -i python',
    'docker run --rm -i node:20 < a.js',
    'echo e | docker compose exec -T c bash',
    'docker exec -i c psql < a.sql',
    'cat x | docker run -i my/image',
    'docker attach c < x',
    'docker start -ai c < x',
    'echo e | docker container exec -i c ash',
  ],
  kubectl: [
    'echo e | kubectl exec -i p -- sh',
    'kubectl exec -i p -- bash < x',
    'kubectl exec -it p -- python3 < a',
    'kubectl run x -i --image=busybox < x',
    'kubectl -n a exec -i p -- node <<< evil',
    'kubectl attach -i p < x',
    'cat x | kubectl exec -i deploy/a -c b -- sh -s',
    'printf e | kubectl exec -i p -- perl',
    'kubectl exec -i p -- mysql < x',
    'kubectl debug -i node/x --image=alpine < x',
  ],
  parallel: [
    'echo evil | parallel',
    'cat x | parallel -j4',
    'parallel < cmds.txt',
    'parallel ::: evil',
    'parallel -a cmds',
    'parallel -j 4 :::: cmds',
    'cat x | parallel {}',
    'parallel --jobs 2 < x',
    'printf e | parallel -0',
    'parallel --will-cite <<< evil',
  ],
  su: ['echo e | su', 'echo e | su - bob', 'su bob < x'],
  wsl: ['echo e | wsl', 'echo e | wsl sh', 'wsl < x'],
  script: ['echo e | script', 'script < x'],
  lxc: ['echo e | lxc exec c sh', 'lxc exec c -- bash < x'],
  adb: ['echo e | adb shell', 'adb shell < x'],
  unheard: ['echo e | unheard sh', 'unheard -x python3 < x', 'unheard run "bash -s" < x'],
}

test.each(Object.entries(asked))('code in the input of %s is asked about', (program, commands) => {
  expect(commands.filter((command) => decide(command, program) === 'allow')).toEqual([])
})

const allowed: [string, string][] = [
  ['ssh', 'ssh h ls'],
  ['ssh', 'ssh h ls < /dev/null'],
  ['docker', 'docker ps'],
  ['docker', 'docker exec c ls'],
  ['docker', 'cat x | docker build -'],
  ['docker', 'docker logs c | cat'],
  ['kubectl', 'kubectl get pods'],
  ['kubectl', 'kubectl exec p -- ls'],
  ['kubectl', 'echo a | cat && kubectl exec p -- ls'],
  ['parallel', 'cat x | parallel gzip'],
  ['gzip', 'parallel -j 4 gzip ::: a b'],
]

test('a program without input, or with input that it does not run, is not asked about', () => {
  expect(allowed.filter(([program, command]) => decide(command, program) !== 'allow')).toEqual([])
})

/** The command that a rule is written for, word by word, and how code is fed to it. */
const fed: [rule: string, command: string][] = [
  ['parallel', 'cat x | parallel'],
  ['parallel', 'parallel < x'],
  ['su', 'echo evil | su'],
  ['ssh h', 'echo evil | ssh h'],
  ['ssh h sh', 'ssh h sh < x'],
  ['bash', 'cat x | bash'],
  ['bash -s', 'cat x | bash -s'],
  ['bash -e', 'bash -e < x'],
  ['sh -x -', 'cat x | sh -x -'],
  ['sudo -s', 'echo evil | sudo -s'],
  ['python3', 'cat x | python3'],
  ['python3 -', 'cat x | python3 -'],
  ['node', 'node < x'],
  ['psql db', 'cat x | psql db'],
  ['docker exec -i c sh', 'cat x | docker exec -i c sh'],
  ['kubectl exec -i p -- sh', 'kubectl exec -i p -- sh < x'],
  ['nix-shell', 'echo evil | nix-shell'],
  ['wsl', 'wsl <<< evil'],
]

test.each(fed)('a rule that is exactly %s does not say what is fed to it: %s', (rule, command) => {
  const allow = (pattern: string) => ({ domain: 'bash', pattern, decision: 'allow' }) as const
  const judge = (pattern: string) =>
    new PermissionPolicy({
      vault: '/home/u/project',
      rules: [allow('cat *'), allow('echo *'), allow(pattern)],
    }).evaluate({ tool: 'bash', args: { command } })
  expect(judge(rule)).toMatchObject({ decision: 'ask' })
  expect(judge(rule).suggestions ?? []).toEqual([])
})

test('a rule for all commands covers what is fed to them', () => {
  const rules = [{ domain: 'bash', pattern: '*', decision: 'allow' }] as const
  const policy = new PermissionPolicy({ vault: '/home/u/project', rules: [...rules] })
  for (const command of ['cat x | ssh h', 'cat x | python3 -', 'cat x | parallel'])
    expect(policy.evaluate({ tool: 'bash', args: { command } }).decision).toBe('allow')
})
