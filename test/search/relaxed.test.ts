import { h, p } from '../document/build.ts'
import { searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('a question is answered although no text repeats the words that only ask', async (t) => {
  const ada = await service.signUp()
  await write(ada, [p('Monthly allowance: forty litres of paint.'), p('Nothing else is allowed.')])
  await write(ada, 'Der Resturlaub verfällt am letzten Tag des März, und das gilt für alle Beschäftigten hier.')
  await untilFresh(ada)
  const found = async (q: string) =>
    (await searchV2(ada, { q })).results.map(({ context }: { context: { match: string } }) => context.match)
  t.strictSame(await found('how many litres may somebody take'), ['litres'])
  t.strictSame(await found('wann darf man Resturlaub nehmen'), ['Resturlaub'])
  const [hit] = (await searchV2(ada, { q: 'how many litres may somebody take' })).results
  t.equal(hit.score_explanation.relaxed, true, 'and the answer says that words were left out')
  t.strictSame((await searchV2(ada, { q: 'how many litres may somebody take', mode: 'exhaustive' })).results, [])
  t.strictSame((await ada.get('/search?q=how+many+litres+may+somebody+take')).body.data, [])
})

t.test('a question without spaces is answered by the words in it', async (t) => {
  const ada = await service.signUp()
  const chinese = await write(ada, '押金一般是一个月房租，退房时没有损坏就全额退还。')
  const japanese = await write(ada, 'エレベーターは使わず、階段で降りてください。')
  await write(ada, '房租每月一号交。')
  await untilFresh(ada)
  const found = async (q: string) =>
    (await searchV2(ada, { q })).results.map(({ document_id }: { document_id: string }) => document_id)
  t.strictSame(await found('退房时押金什么时候退还'), [chinese.id])
  t.strictSame(await found('地震のときエレベーターを使ってもいいですか'), [japanese.id])
  t.strictSame(await found('"退房时押金什么时候退还"'), [], 'a quoted sentence is not cut')
  t.strictSame((await searchV2(ada, { q: '退房时押金什么时候退还', mode: 'exhaustive' })).results, [])
})

t.test('words that stand in different parts of one document lead to it', async (t) => {
  const ada = await service.signUp()
  const wanted = await write(ada, [
    h(1, 'Sickness'),
    p('A certificate is needed.'),
    h(1, 'Leave'),
    p('Moving: two days.'),
  ])
  await write(ada, [p('Another sickness.')])
  await write(ada, [p('A certificate of something else.')])
  await untilFresh(ada)
  const { results } = await searchV2(ada, { q: 'sickness certificate moving leave' })
  t.strictSame(new Set(results.map(({ document_id }: { document_id: string }) => document_id)), new Set([wanted.id]))
  t.equal(results.length, 4)
  for (const { score, score_explanation } of results) {
    t.match(score_explanation, { relaxed: true, exact: false })
    const sum = score_explanation.terms.reduce((all: number, { weight }: { weight: number }) => all + weight, 0)
    t.ok(Math.abs(score - sum * score_explanation.field_weight) < 1e-5, 'the explanation adds up to the score')
  }
  const others = (await searchV2(ada, { q: 'sickness lemur walrus' })).results
  t.strictSame(others, [], 'a document with less than half of the words is not found')
})
