import { type AskModel, requestCharacters, summariseByModel } from '../../shared/summaries/by-model/ask.ts'
import { t } from '../support/tap.ts'

const words = (count: number) => 'word '.repeat(count)

t.test('ten thousand documents come to one summary, whatever the model says to their parts', async (t) => {
  const texts = Array.from({ length: 10_000 }, (_, index) => `Document ${index}: ${words(14)}`)
  const answers: Record<string, string> = { terse: 'x', talkative: words(20_000), empty: '…' }
  for (const [manner, answer] of Object.entries(answers)) {
    const requests: string[] = []
    const ask: AskModel = async ({ user }) => {
      requests.push(user)
      return answer
    }
    const material = { kind: 'knowledge_base', title: 'All', texts }
    const summary = await summariseByModel(ask, { model: 'model', material })
    t.ok(summary.length > 0 && Array.from(summary).length <= 20_000, manner)
    t.ok(requests.length < 50, `${manner}: ${requests.length} requests`)
    for (const user of requests) t.ok(user.length < requestCharacters * 1.5)
    const seen = requests.join()
    t.ok(seen.includes('Document 0:') && seen.includes('Document 9999:'), 'nothing is left out')
  }
})

t.test('a text that is longer than a request is read to its end', async (t) => {
  const requests: string[] = []
  const ask: AskModel = async ({ user }) => {
    requests.push(user)
    return 'part'
  }
  const text = `first ${words(10_000)} last`
  await summariseByModel(ask, { model: 'model', material: { kind: 'document', title: 'Long', texts: [text] } })
  t.equal(requests.length, 4)
  t.match(requests[0], 'first')
  t.match(requests[2], 'last')
})
