import type { Client } from '../support/client.ts'
import { searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { rewrite, startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('who misspells a word is told the word that the documents have', async (t) => {
  const ada = await withTexts(
    'Register the middleware before the routes.',
    'The colour of the kernel documentation is green.',
    'Receive letters from friends.',
  )
  const expected: Record<string, string | null> = {
    midleware: 'middleware',
    middelware: 'middleware',
    miiddlewaree: 'middleware',
    color: 'colour',
    kernal: 'kernel',
    ekrnel: 'kernel',
    kernl: 'kernel',
    dokumentatoin: 'documentation',
    'documntation of the kernal': 'documentation of the kernel',
    '"the kernal documentation"': '"the kernel documentation"',
    'Kernal!': 'kernel!',
    recieve: 'receive',
    xyzzyqwertz: null,
    krnl: null,
    kernel: null,
    'kernel middleware': null,
    gren: 'green',
    gre: null,
  }
  for (const [q, suggestion] of Object.entries(expected)) t.equal(await suggestionOf(ada, q), suggestion, q)
  const followed = await searchV2(ada, { q: (await suggestionOf(ada, 'documntation of the kernal')) ?? '' })
  t.equal(followed.results.length, 1)
})

t.test('words with accents, and of other scripts, are corrected as the index knows them', async (t) => {
  const ada = await withTexts(
    'Die Datenbanksicherung und die Straße in Köln',
    'Резервное копирование выполняется ночью',
    'المكتبة الوطنية تحفظ الوثائق القديمة',
    'Η βιβλιοθήκη είναι κλειστή',
    'पुस्तकालय कल बंद रहेगा',
    '档案馆每年搬迁一次',
    'หอจดหมายเหตุย้ายปีละครั้ง',
  )
  const expected: Record<string, string | null> = {
    Datenbanksicherng: 'datenbanksicherung',
    Strase: 'strasse',
    Strasze: 'strasse',
    копировние: 'копирование',
    المكتية: 'المكتبة',
    βιβλιοθικη: 'βιβλιοθηκη',
    पुस्तकालया: 'पुस्तकालय',
    档案管: null,
    หอจดหมายแหตุ: null,
  }
  for (const [q, suggestion] of Object.entries(expected)) t.equal(await suggestionOf(ada, q), suggestion, q)
})

t.test('of equally near words, the word is suggested that stands beside the other words', async (t) => {
  const ada = await withTexts('a brown house', 'a brown house', 'the grey mouse runs', 'a black horse')
  t.equal(await suggestionOf(ada, 'gouse'), 'house', 'the most frequent')
  t.equal(await suggestionOf(ada, 'grey gouse'), 'grey mouse')
  t.equal(await suggestionOf(ada, 'hoorse'), 'horse')
})

t.test('a suggestion never has a word of what the caller may not see, or no longer sees', async (t) => {
  const [ada, bob] = [await withTexts('the secretive middleware'), await withTexts('bread and butter')]
  t.equal(await suggestionOf(bob, 'midleware'), null, 'of another workspace')
  t.equal(await suggestionOf(ada, 'midleware'), 'middleware')

  const { id } = await write(bob, 'a kangaroo jumps')
  await untilFresh(bob)
  t.equal(await suggestionOf(bob, 'kangaro'), 'kangaroo')
  await rewrite(bob, id, 'an elephant walks')
  t.equal(await suggestionOf(bob, 'kangaro'), null, 'of a body that is not indexed yet, or has lost the word')
  await untilFresh(bob)
  t.equal(await suggestionOf(bob, 'kangaro'), null, 'of a body that has lost the word')
  t.equal(await suggestionOf(bob, 'elefant'), null)
  t.equal(await suggestionOf(bob, 'elephan'), 'elephant')
  t.equal((await bob.delete(`/documents/${id}`, { 'if-match': '*' })).status, 204)
  t.equal(await suggestionOf(bob, 'elephan'), null, 'of a document in the trash')
})

t.test('a suggestion has only words of the searched scope', async (t) => {
  const ada = await withTexts('the middleware of the default base')
  const base = (await ada.post('/knowledge-bases', { name: 'Second' })).body.data.id
  await write(ada, 'a middlemare of the second base', { knowledge_base_id: base, locale: 'en' })
  await untilFresh(ada)
  t.equal(await suggestionOf(ada, 'middlewre', { knowledge_base_id: base }), 'middlemare')
  t.equal(await suggestionOf(ada, 'middlewre'), 'middleware')
  t.equal(await suggestionOf(ada, 'middleware', { knowledge_base_id: base }), 'middlemare', 'unknown in this base')
  t.equal(await suggestionOf(ada, 'middlewre', { locale: 'de' }), null)
  t.equal(await suggestionOf(ada, 'middlewre', { knowledge_base_id: 999_999 }), null)
})

t.test('relaxed hits come with a suggestion, strict hits and other answers with none', async (t) => {
  const ada = await withTexts('herons fly over the river', 'an old river')
  const relaxed = await searchV2(ada, { q: 'herons fly rivver' })
  t.match(relaxed, { suggestion: 'herons fly river', results: [{ score_explanation: { relaxed: true } }] })
  t.equal((await searchV2(ada, { q: 'herons river' })).suggestion, null)
  t.notOk('suggestion' in (await searchV2(ada, { q: 'rivver', mode: 'exhaustive' })))
  t.equal(await suggestionOf(ada, 'rivre', { typing: 'true' }), 'river')
  t.equal(await suggestionOf(ada, 'rive', { typing: 'true' }), null, 'which is found')
})

t.test('no query makes suggesting long', async (t) => {
  const ada = await withTexts('a river with a bridge')
  const hostile = [
    'brdge '.repeat(33).trim(),
    Array.from({ length: 33 }, (_, index) => `wor${String.fromCodePoint(0x61 + (index % 26))}x`).join(' '),
    'a'.repeat(200),
    `${'ж'.repeat(99)} ${'é'.repeat(99)}`,
    "b'r'i'd'g",
    'brid\\ge%',
    `brid${'\u0301'.repeat(30)}gf`,
  ]
  for (const q of hostile) t.ok('suggestion' in (await searchV2(ada, { q })), q.slice(0, 30))
  t.equal(
    await suggestionOf(ada, 'brdge '.repeat(20).trim()),
    'bridge '.repeat(20).trim(),
    'each occurrence is replaced',
  )
})

async function withTexts(...texts: string[]): Promise<Client> {
  const ada = await service.signUp()
  for (const text of texts) await write(ada, text)
  await untilFresh(ada)
  return ada
}

async function suggestionOf(
  client: Client,
  q: string,
  members: Record<string, string | number> = {},
): Promise<string | null> {
  return (await searchV2(client, { q, ...members })).suggestion
}
