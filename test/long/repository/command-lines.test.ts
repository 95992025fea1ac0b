import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, startProcess } from '../../support/processes.ts'
import { t } from '../../support/tap.ts'

// The commands of `npm run`, except for the tools that check and test the repository.
const commands = [
  'shared/start/migrate-command.ts',
  'shared/search/index/reindex-command.ts',
  'shared/import/import-command.ts',
  'shared/start/dashboard.ts',
  'shared/start/start.ts',
  'shared/auth/bootstrap-command.ts',
  'shared/packaging/pack-command.ts',
  'test/demo/main.ts',
  'test/bench/main.ts',
  'test/storm/main.ts',
]

for (const command of commands) {
  t.test(`${command} explains itself without touching anything, and names its exit codes`, async (t) => {
    for (const flag of ['--help', '-h']) {
      const running = startProcess(command, { words: [flag], env: { DATABASE_URL: 'postgres://nowhere.invalid/x' } })
      t.equal(await running.ended, 0)
      t.match(running.output(), /^usage: (npm|node) /m)
      t.match(running.output(), 'Exit codes: 0 ')
    }
    const wrong = startProcess(command, { words: ['--nonsense'], env: {} })
    t.equal(await wrong.ended, 2)
    t.match(wrong.output(), "Unknown option '--nonsense'")
  })
}

t.test('every script that a user runs explains itself', async (t) => {
  const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts
  // test/cli/basics.test.ts holds each command of the command line to its own help.
  const tools = ['check', 'test', 'test:long', 'test:mutations', 'kb', 'mcp']
  for (const [name, script] of Object.entries(scripts)) {
    if (!tools.includes(name))
      t.ok(
        commands.some((command) => script.includes(command)),
        name,
      )
  }
})
