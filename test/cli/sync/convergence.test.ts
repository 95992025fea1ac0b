import fc from 'fast-check'
import { runsTimes } from '../../support/runs.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { SyncWorld, steps } from './world.ts'

const service = await sharedService({ QUOTA_KNOWLEDGE_BASES: '100000', QUOTA_DOCUMENTS: '1000000' })
const ada = await service.signUp()

t.test('two folders and their service meet, whatever was written, killed or deleted meanwhile', async (t) => {
  const property = fc.asyncProperty(steps, async (steps) => {
    const world = await SyncWorld.begin(t, ada)
    for (const step of steps) await world.take(step)
    await world.settle()
    await world.check()
  })
  await fc.assert(property, runsTimes(1 / 9))
  t.pass('both sides are equal, and every paragraph is in a document or in the copy of a conflict')
})
