import t from 'tap'
import { untilDerived } from './derived.ts'
import { derive, prepareEverything } from './prepared.ts'
import { knownPlaces, readEverything } from './reads.ts'

const start = await prepareEverything(t)
t.test('x', async (t) => {
  const copied = await start(t)
  const known = await knownPlaces(copied.ada, copied.everything)
  const before = await readEverything(copied.ada, { everything: copied.everything, known })
  console.error(before.size)
  const by = new Map<string, number>()
  for (const [path, r] of before) by.set(String(r.status), (by.get(String(r.status)) ?? 0) + 1)
  console.error(by)
  for (const [path, r] of before) if (r.status >= 400) console.error(path, JSON.stringify(r.answer).slice(0, 200))
  const { writeFileSync } = await import('node:fs')
  writeFileSync('/tmp/k2-before.json', JSON.stringify([...before], null, 1))
  await derive(t, copied)
  await untilDerived(copied.service)
  const again = await readEverything(copied.ada, { everything: copied.everything, known })
  for (const [path, r] of before) if (JSON.stringify(again.get(path)) !== JSON.stringify(r)) console.error('DIFF', path)
})
