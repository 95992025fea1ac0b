import type { BodyNode } from '../../shared/body/document.ts'
import { computationLoad } from '../../shared/computations/compute.ts'
import { translateTexts } from '../../shared/localization/jobs/translate.ts'
import { t } from '../support/tap.ts'

const text = { unit_id: 'u0', content: [{ type: 'text', text: 'a' }] }
const padding = 'b'.repeat(400_000)

t.test('a long answer of a model is read in a thread, where it can be ended', async (t) => {
  const before = computationLoad().ends.done
  const translations = [
    { id: 'u0', text: 'c' },
    { id: 'u1', text: padding },
  ]
  t.match(await answered(JSON.stringify({ translations })), [{ unit_id: 'u0', text: 'c' }])
  t.equal(computationLoad().ends.done, before + 1)
})

t.test('a long answer that is no translation fails its texts and nothing else', async (t) => {
  for (const answer of [padding, JSON.stringify([padding]), `{"translations":[${padding}`]) {
    t.match(await answered(answer), [{ unit_id: 'u0', failure: 'model_bad_output' }])
  }
})

t.test('good JSON is found in whatever a model puts around it', async (t) => {
  const json = '{"translations": [{"id": "u0", "text": "c } \\" {"}]}'
  const answers = [
    `\`\`\`json\n${json}\n\`\`\``,
    `Here is the translation:\n\n${json}\n\nLet me know {if} it "helps.`,
    `\uFEFF${json}`,
    `For {name: I had {"translations": []} and then:\n${json}`,
    `{"answer": ${json}}`,
  ]
  for (const answer of answers) t.match(await answered(answer), [{ unit_id: 'u0', text: 'c } " {' }], answer)
  t.match(await answered('{'.repeat(200_000)), [{ failure: 'model_bad_output' }])
})

t.test('a mark of Markdown beside punctuation stays a mark in scripts without spaces', async (t) => {
  const important = { type: 'text', text: 'important (very)' }
  const cases = [
    ['bold', 'これは**重要（とても）**です。', '重要（とても）'],
    ['bold', '문서를 작성할 때 **마크다운(Markdown)**을 사용하세요.', '마크다운(Markdown)'],
    ['bold', '**现在就做。**然后继续。', '现在就做。'],
    ['bold', 'これは**（とても）重要**です', '（とても）重要'],
    ['bold', 'Это**«важно»**слово', '«важно»'],
    ['italic', 'これは*重要（x）*です', '重要（x）'],
    ['strike', 'これは~~重要（x）~~です', '重要（x）'],
  ] as const
  for (const [type, answer, marked] of cases) {
    const content = [
      { type: 'text', text: 'This is ' },
      { ...important, marks: [{ type }] },
    ]
    const [translation] = await translationsOf(content, answer)
    t.match(translation, { text: answer }, answer)
    const read = translation !== undefined && 'content' in translation ? translation.content : []
    t.same(
      read.filter(({ marks }) => marks),
      [{ type: 'text', text: marked, marks: [{ type }] }],
    )
    t.notMatch(JSON.stringify(read), /[*~\uE000]/)
    t.match(await translationsOf(content, answer.replace(/[*~]/g, '')), [{ failure: 'structure_changed' }])
  }
})

t.test('a placeholder that a translation has changed costs its unit', async (t) => {
  const cases: Record<string, { kept: string[]; changed: string[] }> = {
    'Hello {{name}}, {count} and %s (%1$d).': {
      kept: ['Hallo {{ name }}, {count} und %s (%1$d).', '%s (%1$d) {count}, {{name}}'],
      changed: [
        'Hallo {{Name}}, {count} und %s (%1$d).',
        'Hallo {{name}}, {Anzahl} und %s (%1$d).',
        'Hallo {{name}}, {count} und % s (%1$d).',
        'Hallo {{name}}, {count} und %s (1 $%d).',
        'Hallo {{name}}, {count} und %s %s (%1$d).',
      ],
    },
    [`Of %(x)s :name has \${x}, %{y}, {0} and %.2f`]: {
      kept: [`:name hat von %(x)s \${x}, %{y}, {0} und %.2f`],
      changed: [`:Name hat von %(x)s \${x}, %{y}, {0} und %.2f`, `name hat von %(X)s \${x}, %{y}, {0} und %.2f`],
    },
    '%s has %d': { kept: ['%s hat %d'], changed: ['%d von %s', '%s hat'] },
    '{n, plural, one {# day} other {# days}}': {
      kept: ['{n, plural, one {# dzień} few {# dni} other {# dni}}'],
      changed: ['{m, plural, one {#} other {#}}', '{n, Plural, one {#} other {#}}', '{n, plural, one {#} andere {#}}'],
    },
    '{g, select, male {He} other {They}} came': {
      kept: ['{g, select, male {Er} other {Sie}} kam'],
      changed: ['{g, select, Mann {Er} other {Sie}} kam'],
    },
    'It is 100% sure at 10:30, {as they say}': { kept: ['Es ist 100%ig um 10:30, {wie man sagt}'], changed: [] },
  }
  for (const [source, { kept, changed }] of Object.entries(cases)) {
    const content = [{ type: 'text', text: source }]
    for (const answer of kept) t.match(await translationsOf(content, answer), [{ text: answer }], answer)
    for (const answer of changed) {
      t.match(await translationsOf(content, answer), [{ failure: 'structure_changed' }], answer)
    }
  }
})

function translationsOf(content: BodyNode[], text: string) {
  return answered(JSON.stringify({ translations: [{ id: 'u0', text }] }), content)
}

async function answered(answer: string, content: BodyNode[] = text.content) {
  const request = { model: 'm', source_locale: 'en', target_locale: 'de', ask: async () => answer }
  return (await translateTexts([{ unit_id: 'u0', content }], request)).translations
}
