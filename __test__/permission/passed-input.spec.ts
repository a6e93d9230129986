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
  ['parallel', 'parallel -j 4 gzip ::: a b'],
]

test('a program without input, or with input that it does not run, is not asked about', () => {
  expect(allowed.filter(([program, command]) => decide(command, program) !== 'allow')).toEqual([])
})
