import { PermissionPolicy } from 'spillway'

const policy = new PermissionPolicy({
  vault: '/vault',
  rules: [{ domain: 'bash', pattern: 'sed *', decision: 'allow' }],
})
const decide = (command: string) => policy.evaluate({ tool: 'bash', args: { command } }).decision

describe("sed -i '' of BSD and macOS", () => {
  test.each([
    "sed -i '' 's/x/y/' f",
    "sed -i '' 's/x/y/g' src/a.ts src/b.ts",
    "sed -i '' '/a\\/b/d' f",
    "sed -i '' '/^$/d' f",
    "sed -i '' -e 's/x/y/' f",
    "sed -i '' -E 's/(x)/y/' f",
    "sed -E -i '' 's|/usr/x|/opt/x|' f",
    'sed -i "" \'1d\' f',
    "sed -n -i '' 's/x/y/p' f",
    "sed -i '' '1,3d' f",
    "sed -i .bak 's/x/y/' f",
    "sed -i '.orig' 's/x/y/' f",
    "sed -i '' 's#/a/b#/c/d#g' f",
    "sed -i '' '$d' f",
    "sed -i 's/x/y/' f",
    "sed -i 's/x/y/' src/a.ts web/b.ts",
    "sed -i '1d' src/a.ts",
    "sed -i.bak 's/x/y/' f",
    "sed -i'' 's/x/y/' f",
    "sed -i '' -e 's/a/b/' -e 's/c/d/' f",
    "sed -i '/a\\/b/d' f",
  ])('%s asks nothing', (command) => {
    expect(decide(command)).toBe('allow')
  })

  test.each([
    "sed -i '' 's/x/y/w /Users/u/.zshrc' f",
    "sed -i '' '1w /Users/u/.zshrc' f",
    "sed -i '' 'w out' f",
    "sed -i '' 's/x/touch evil/e' f",
    "sed -i '' '1e evil' f",
    "sed -i '' 'r /etc/passwd' f",
    "sed -i .bak '1w /Users/u/.zshrc' f",
    "sed -i '.bak' 's/x/y/w /x' f",
    "sed -E -i '' 's/x/y/w /x' f",
    "sed -n -i '' '1w /x' f",
    "sed -i '' -f script f",
    "sed -i '' -e '1w /x' f",
    "sed -i '../x*' 's/x/y/' f",
    "sed -i './x/*' 's/x/y/' f",
    "sed -i 1d 'w /Users/u/.zshrc' f",
    "sed -i p '1w /Users/u/.zshrc' f",
    "sed -i d 's/x/y/w /Users/u/.zshrc' f",
    'sed -i d w/Users/u/.zshrc',
    "sed -i d 'e evil' f",
  ])('%s is not allowed', (command) => {
    expect(decide(command)).toMatch(/ask|deny/)
  })

  test.each([
    "sed -i '' 's/x/y/' /etc/hosts",
    "sed -i '' 's/x/y/' ../f",
    "sed -i '' -e 's/x/y/' /etc/hosts",
    "sed -i .bak 's/x/y/' ~/.zshrc",
  ])('%s edits outside', (command) => {
    expect(decide(command)).toBe('deny')
  })
})
