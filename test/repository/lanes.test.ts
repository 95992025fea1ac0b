import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, lanes, lanesOf, testFiles } from '../support/lanes.ts'
import { root } from '../support/processes.ts'
import { t } from '../support/tap.ts'

t.test('every test file runs, in exactly one lane', async (t) => {
  const files = await testFiles({ named: [], long: true })
  const inLanes = lanesOf(files).flatMap((lane) => lane.files)
  t.strictSame([...inLanes].sort(), files)
  const folders = new Set(files.map(folderOf))
  for (const folder of Object.values(lanes).flat()) t.ok(folders.has(folder), `test/${folder} has tests`)
})

t.test('a file that leaves something behind fails the run, by its name', async (t) => {
  const file = join(t.testdir(), 'left.test.ts')
  writeFileSync(file, `setInterval(() => {}, 1000)\nprocess.on('warning', () => {})\n`)
  const lane = join(t.testdirName, 'lane.mjs')
  const [support, path] = [join(root, 'test/support/lane.ts'), file.slice(root.length)].map((text) =>
    JSON.stringify(text),
  )
  writeFileSync(lane, `import { runFiles } from ${support}\nawait runFiles('a lane', [${path}])\nprocess.exit()\n`)
  const { stdout } = spawnSync(process.execPath, [lane], { cwd: root, encoding: 'utf8', env: {} })
  t.match(stdout, /not ok .*left\.test\.ts leaves 1 × Timeout behind/)
  t.match(stdout, /not ok .*left\.test\.ts leaves 1 × listener for warning behind/)
})
