import { p } from '../../../document/build.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { Person } from '../../../support/collab.ts'
import { make } from '../../../support/documents.ts'
import { t } from '../../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

t.test('the page of a document that became too large leads to the block', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const ada = await service.signUp({ email: 'ada@example.test', workspace: 'Elephants' })
  const { id } = await make(ada, [p('Elephants'), p('They drink')])
  const reader = await signedInBrowser(await startChromium(t), { service, userId: ada.user_id })
  const { page, state } = await WrittenPage.open(reader, { origin: service.origin, id })
  await state.getByText('Saved').waitFor()
  const person = await Person.open({ url: service.collab().url, token: ada.bearer ?? '', documentId: id })
  t.teardown(() => person.close())
  person.type(' water'.repeat(100_000), 1)
  await state.getByText(/^Not saved: .* The longest change begins with “They drink water/).waitFor()
  await state.getByRole('link', { name: 'Go to the block' }).click()
  t.match(new URL(page.url()).hash, /^#block_/)
  const typed = person.textAt(1)
  typed.delete('They drink water'.length, typed.length - 'They drink water'.length)
  await state.getByText('Saved', { exact: true }).waitFor()
  t.equal(await state.getByRole('link').count(), 0)
})
