import { p } from '../../document/build.ts'
import { startCountingProxy } from '../../support/counting-proxy.ts'
import { bodyOf, make, put } from '../../support/documents.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const proxy = await startCountingProxy(t, url)
const { signUp } = await startTestService(t, { DATABASE_URL: proxy.url })

// The first words of a read, of a statement within a transaction, and of the end of a transaction.
for (const words of ['SELECT d.workspace_id, d.id, d.title', 'UPDATE documents SET', 'COMMIT']) {
  t.test(`whoever waits for an answer of the database that never comes is told so: ${words}`, async (t) => {
    const ada = await signUp()
    const made = await make(ada, [p('before')])
    proxy.cut(words, { silent: true })
    const call = () =>
      words.startsWith('SELECT') ? ada.get(`/documents/${made.id}/content`) : put(ada, made.id, [p('after')])
    const start = performance.now()
    t.match(await call(), { status: 503, body: { error: { code: 'service_unavailable' } } })
    t.ok(performance.now() - start < 20_000, 'in time')
    t.strictSame(await bodyOf(ada, made.id), made, 'what was not acknowledged has not happened')
    t.match(await put(ada, made.id, [p('later')], made.etag), { status: 200 }, 'and nothing stays locked')
  })
}
