import { routes } from '../../api/routes/routes.ts'
import { bodyOf, createFixture, pathOf, queryOf, withModel } from '../contract/fixtures.ts'
import { raceRounds } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp } = await startTestService(t, { ...withModel, QUOTA_KNOWLEDGE_BASES: '100000' })

for (const spec of routes.filter(({ method }) => method === 'DELETE')) {
  t.test(`of five deletions at once one succeeds and four find nothing: ${spec.path}`, async (t) => {
    const owner = await signUp()
    for (const round of raceRounds) {
      const fixture = await createFixture(owner, spec)
      const path = pathOf(spec, fixture) + queryOf(spec, fixture)
      const body = bodyOf(spec, fixture)
      const replies = await Promise.all(Array.from({ length: 5 }, () => owner.delete(path, body)))
      const statuses = replies.map(({ status }) => status).sort()
      t.same(statuses, [spec.success[0]?.status, 404, 404, 404, 404], `round ${round}`)
    }
  })
}
