import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import { p } from '../../document/build.ts'
import { Person, startCollab } from '../../support/collab.ts'
import { make } from '../../support/documents.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

t.test('nobody takes over the cursor of a page that others have not seen for a while', async (t) => {
  const service = await startTestService(t)
  const collab = await startCollab({ DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR })
  t.teardown(collab.stop)
  const [ada, bob] = await Promise.all([service.signUp({ workspace: 'Zoo' }), service.signUp({ workspace: 'Zoo' })])
  const { id: documentId } = await make(ada, [p('one')])
  const open = async (token = '', clientId = randomInt(2 ** 31)) => {
    const doc = new Y.Doc()
    doc.clientID = clientId
    const person = await Person.open({ url: collab.url, token, documentId, doc })
    t.teardown(() => person.close())
    return person
  }
  const [watching, quiet] = [await open(bob.bearer), await open(ada.bearer)]
  const seen = () => watching.provider.awareness?.getStates().get(quiet.doc.clientID)
  quiet.provider.setAwarenessField('cursor', 1)
  while (seen() === undefined) await sleep(20)
  // A browser may slow down the timers of a page in the background.
  clearInterval(quiet.provider.awareness?._checkInterval)
  while (seen() !== undefined) await sleep(100)
  const forged = await open(bob.bearer, quiet.doc.clientID)
  for (let cursor = 10; cursor < 15; cursor += 1) forged.provider.setAwarenessField('cursor', cursor)
  await sleep(500)
  t.equal(seen(), undefined)
  for (let cursor = 2; cursor < 12; cursor += 1) quiet.provider.setAwarenessField('cursor', cursor)
  while (seen()?.['cursor'] !== 11) await sleep(20)
  t.match(seen(), { user: { id: ada.user_id }, cursor: 11 })
})
