import t from 'tap'
import { p, text } from '../body/build.ts'
import { make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'

const { signUp } = await startTestService(t)

t.test(
  'candidates are those of the body that the answer names, whoever writes while they are looked for',
  async (t) => {
    const ada = await signUp()
    for (let round = 0; round < 12; round += 1) {
      const { id } = await make(ada, [linked('first')])
      const [extraction, written] = await Promise.all([
        ada.post('/concept-candidates/extract', { document_id: id }),
        put(ada, id, [linked('second')]),
      ])
      const { source_version: version, candidates } = extraction.body.data
      const names = candidates.map(({ name }: { name: string }) => name)
      t.ok(names.includes(version === written.body.data.version ? 'second' : 'first'), `${version}: ${names}`)
      t.notOk(names.includes(version === written.body.data.version ? 'first' : 'second'), `${version}: ${names}`)
    }
  },
)

function linked(name: string) {
  return p(text(name, { type: 'link', attrs: { href: 'https://example.test' } }))
}
