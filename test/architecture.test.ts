import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import tap from 'tap'

const { forbidden } = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as { forbidden: { name: string }[] }

tap.test('every folder of shared stands in the order of rooms, so that its imports are checked', (t) => {
  const folders = readdirSync(new URL('../shared', import.meta.url), { withFileTypes: true })
  t.same(
    folders.filter((entry) => !entry.isDirectory()).map(({ name }) => name),
    [],
    'no file lies loose',
  )
  const guarded = forbidden.flatMap(({ name }) => name.match(/^(.+)-imports-no-room-above$/)?.[1] ?? [])
  // The rule of a room names the rooms above it, so the last room has none.
  const missing = folders.map(({ name }) => name).filter((name) => !guarded.includes(name))
  t.same(missing, ['import'])
  t.end()
})
