import t from 'tap'
import { p, text } from '../body/build.ts'
import { Person, startCollab } from '../support/collab.ts'
import { bodyOf, make } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'

t.test('what people type is seen by others and stored, beside the writes of programs', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const collab = await startCollab({ DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR })
  t.teardown(collab.stop)
  const { id } = await make(ada, [p('one'), p('two')])
  const open = () => Person.open({ url: collab.url, token: ada.bearer ?? '', documentId: id })
  const [first, second] = await Promise.all([open(), open()])
  t.teardown(() => first.close())
  t.teardown(() => second.close())
  t.strictSame(first.texts, ['one', 'two'])

  first.type(' typed')
  await second.sees(([one]) => one === 'one typed')
  await first.saved()
  const { blocks } = await bodyOf(ada, id)
  t.match(JSON.stringify(blocks), 'one typed')

  second.type(' beside', 0)
  const patch = { content: [text('patched')] }
  const patched = await ada.patch(`/documents/${id}/blocks/${blocks[1]?.attrs.id}`, patch, { 'if-match': '*' })
  t.equal(patched.status, 200, patched.text)
  await first.sees((texts) => texts.join() === 'one typed beside,patched')
  await second.saved()
  t.match(JSON.stringify((await bodyOf(ada, id)).blocks), 'one typed beside')
})
