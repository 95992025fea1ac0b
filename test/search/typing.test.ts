import type { Client } from '../support/client.ts'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('who types the first letters of a word finds the page before the word is complete', async (t) => {
  const ada = await withTexts({
    Guide: 'Register the middleware before the routes.',
    Cooking: 'Bake the bread in the middle of the oven.',
    Gardening: 'Water the roses every evening.',
  })
  t.strictSame(await titles(ada, 'middlew'), ['Guide'])
  t.strictSame(await titles(ada, 'mi'), ['Cooking', 'Guide'])
  t.strictSame(await titles(ada, 'register middl'), ['Guide'], 'the words before must match as ever')
  t.strictSame(await titles(ada, 'midd register'), [], 'only the last word is being typed')
  t.strictSame(await titles(ada, 'm'), [], 'one letter is too short')
  t.strictSame((await searchV2(ada, { q: 'middlew' })).results, [], 'without `typing` nothing has changed')
  const [hit] = (await searchV2(ada, { q: 'middlew', typing: 'true' })).results
  t.match(hit, { context: { before: 'Register the ', match: 'middleware' }, match_count: 1 })
})

t.test('blocks with the whole word come first, however well others match', async (t) => {
  const ada = await withTexts({
    Formatting: 'form form form formats forms',
    Formal: 'formula formulas formation',
    Other: 'A long text about many other things that only at its very end mentions some form',
    'Form letters': 'Nothing of that kind in the text.',
  })
  const { results } = await searchV2(ada, { q: 'form', typing: 'true' })
  const found = results.map(({ title, matched_in }: { title: string; matched_in: string }) => `${title} ${matched_in}`)
  t.strictSame(found.slice(0, 3).sort(), ['Form letters title', 'Formatting content', 'Other content'])
  t.strictSame(found.slice(3).sort(), ['Formal content', 'Formal title', 'Formatting title'])
  const one = await searchV2(ada, { q: 'form', typing: 'true', limit: 2 })
  t.strictSame(
    one.results.map(({ document_id, block_id }: { document_id: string; block_id: string }) => [document_id, block_id]),
    results
      .slice(0, 2)
      .map(({ document_id, block_id }: { document_id: string; block_id: string }) => [document_id, block_id]),
  )
  t.equal(one.page.has_more, true)
})

t.test('words are completed in every script, whatever their accents and capitals', async (t) => {
  const ada = await withTexts({
    arabic: 'المكتبة الوطنية تحفظ الوثائق القديمة',
    german: 'Die Datenbanksicherung läuft jede Nacht, die Größenänderung selten.',
    russian: 'Резервное копирование выполняется ночью, ёлка стоит зимой.',
    french: 'Le café de la gare, l’été dernier.',
    greek: 'Η βιβλιοθήκη είναι κλειστή.',
    hindi: 'पुस्तकालय कल बंद रहेगा।',
    chinese: '档案馆每年搬迁一次',
    japanese: 'データベースの記録を確認する',
    thai: 'หอจดหมายเหตุย้ายปีละครั้ง',
    korean: '데이터베이스 관리자에게',
    marks: `x́y\u0323z\u0302 cafe\u0301teria`,
    identifiers: 'Call fetchUser_v2 of src/lib/database.ts, version v2.10.4',
  })
  const expected: Record<string, string> = {
    الوثا: 'arabic',
    Datenbanks: 'german',
    datenBANK: 'german',
    grossenand: 'german',
    Größenä: 'german',
    Резер: 'russian',
    елк: 'russian',
    'café de la ga': 'french',
    βιβλιο: 'greek',
    पुस्त: 'hindi',
    档: 'chinese',
    档案: 'chinese',
    データ: 'japanese',
    記: 'japanese',
    หอจด: 'thai',
    หอ: 'thai',
    데이: 'korean',
    cafete: 'marks',
    fetchUser_: 'identifiers',
    fetchus: 'identifiers',
    'src/lib/data': 'identifiers',
    'v2.1': 'identifiers',
  }
  for (const [q, title] of Object.entries(expected)) t.strictSame(await titles(ada, q), [title], q)
})

t.test('a quoted phrase is complete, and a quote without a partner is not', async (t) => {
  const ada = await withTexts({ Guide: 'the middleware of routes' })
  t.strictSame(await titles(ada, '"the middlew"'), [])
  t.strictSame(await titles(ada, '"the middlew'), ['Guide'])
})

t.test('when no block has all words, those with half of them are found by a beginning, too', async (t) => {
  const ada = await withTexts({ Guide: 'Register the middleware.', Other: 'unrelated' })
  const { results } = await searchV2(ada, { q: 'install register zebra middlew', typing: 'true' })
  t.match(results, [{ title: 'Guide', score_explanation: { relaxed: true } }])
  t.equal(results.length, 1)
})

t.test('an incomplete word is only looked for in what is searched', async (t) => {
  const [ada, bob] = [await withTexts({ Secret: 'middleware of ada' }), await withTexts({ Other: 'none' })]
  t.strictSame(await titles(bob, 'middlew'), [])
  const base = (await ada.post('/knowledge-bases', { name: 'Second' })).body.data.id
  await write(ada, 'middleweight boxing', { title: 'Boxing', knowledge_base_id: base })
  await untilFresh(ada)
  t.strictSame(await titles(ada, 'middle', { knowledge_base_id: base }), ['Boxing'])
  t.strictSame((await titles(ada, 'middle')).sort(), ['Boxing', 'Secret'])
})

t.test('`typing` is refused where it has no meaning', async (t) => {
  const ada = await service.signUp()
  const exhaustive = await ada.get(`/search/v2?${queryString({ q: 'ab', typing: 'true', mode: 'exhaustive' })}`)
  t.match(exhaustive, { status: 400, body: { error: { code: 'invalid_request' } } })
  t.match(exhaustive.body.error.details.fields, [{ path: '?typing' }])
  t.match(await ada.get('/search?q=ab&typing=true'), { status: 400, body: { error: { code: 'invalid_request' } } })
  t.match(await ada.get('/search/v2?q=ab&typing=yes'), { status: 400, body: { error: { code: 'invalid_request' } } })
  t.match(await ada.get('/search/v2?q=ab&typing=false&mode=exhaustive'), { status: 200 })
})

async function withTexts(texts: Record<string, string>): Promise<Client> {
  const ada = await service.signUp()
  for (const [title, text] of Object.entries(texts)) await write(ada, text, { title })
  await untilFresh(ada)
  return ada
}

/** The titles of the documents that are found while `q` is being typed, each once. */
async function titles(client: Client, q: string, members: Record<string, string | number> = {}): Promise<string[]> {
  const { results } = await searchV2(client, { q, typing: 'true', ...members })
  return [...new Set<string>(results.map(({ title }: { title: string }) => title))].sort()
}
