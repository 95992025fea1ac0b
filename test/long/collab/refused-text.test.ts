import { p } from '../../document/build.ts'
import { Person, startCollab } from '../../support/collab.ts'
import { bodyOf, make } from '../../support/documents.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

// The text of a paste is longer than a document may be.
const paste = 'x'.repeat(5_000_000)

t.test('whoever fills documents beyond their limits keeps nobody in the workspace from typing', async (t) => {
  const service = await startTestService(t)
  const collab = await startCollab({ DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR })
  t.teardown(collab.stop)
  const ada = await service.signUp({ workspace: 'Zoo' })
  const open = async (documentId: string, token = ada.bearer ?? '') => {
    const person = await Person.open({ url: collab.url, token, documentId })
    t.teardown(() => person.close())
    return person
  }
  const { id } = await make(ada, [p('one')])
  const refused = async (token: string | undefined) => {
    const document = await make(ada, [p('one')])
    const person = await open(document.id, token)
    person.type(paste)
    await person.told(({ type }) => type === 'unsaved')
    const { reason } = person.messages.findLast(({ type }) => type === 'unsaved') ?? {}
    if (reason === 'service_unavailable') person.close()
    return reason
  }

  const alone = await service.signUp({ workspace: 'Zoo', role: 'editor' })
  const reasons: unknown[] = []
  for (let count = 0; count < 13; count += 1) reasons.push(await refused(alone.bearer))
  t.strictSame(new Set(reasons.slice(3)), new Set(['service_unavailable']), 'the share of one user is used up')

  for (let editors = 0; editors < 4; editors += 1) {
    const { bearer } = await service.signUp({ workspace: 'Zoo', role: 'editor' })
    for (let count = 0; count < 3; count += 1) t.equal(await refused(bearer), 'document_too_large')
  }
  const metrics = await (await fetch(`${collab.origin}/metrics`)).text()
  t.match(metrics, /^svc_collab_pending_bytes 7500\d{4}$/m, 'more than the room of a workspace')
  const person = await open(id)
  person.type(' and here')
  await person.saved()
  t.match(JSON.stringify((await bodyOf(ada, id)).blocks), 'one and here')
})
