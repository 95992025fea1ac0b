import fc from 'fast-check'
import type { BodyNode } from '../../shared/body/document.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { computeContent, computeMarkdown } from '../../shared/localization/inline/compute.ts'
import { type InlineMarkdown, inlineMarkdown } from '../../shared/localization/inline/markdown.ts'
import { structureOf, wordsOf } from '../../shared/localization/inline/structure.ts'
import { textBlocks } from '../../shared/localization/units/texts.ts'
import { doc, node, p, text } from '../document/build.ts'
import { anyDocument } from '../document/random.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

t.test('whatever a text holds comes back from the model as it was, or is never sent', async (t) => {
  let [sent, kept] = [0, 0]
  const property = fc.asyncProperty(anyDocument, async (document) => {
    for (const { hash, block } of textBlocks(document.content).slice(0, 5)) {
      if (hash === '' || block.content === undefined) continue
      const inline = await computeMarkdown(block.content)
      if (inline === null) {
        kept += 1
        continue
      }
      sent += 1
      const back = (await computeContent({ inline, translation: inline.markdown })) ?? []
      if (structureOf(back) !== structureOf(block.content)) throw new Error(inline.markdown)
      if (wordsOf(back) !== wordsOf(block.content)) throw new Error(inline.markdown)
    }
  })
  await fc.assert(property, runsTimes(2))
  t.ok(sent > 9 * kept, `${sent} texts were sent, ${kept} were not`)
})

t.test('prose that needs no serialiser is written as the serialiser would', (t) => {
  const signs = [...'aWw.,:;-!? ()"1%éß日ф/@_*[]<&']
  const property = fc.property(fc.array(fc.constantFrom(...signs), { minLength: 1, maxLength: 12 }), (characters) => {
    const body = doc(p(characters.join('')))
    const [written] = inlineMarkdown([body.content[0]?.content])
    const { markdown } = toMarkdown(body, { anchors: false })
    if (written !== markdown.trim()) throw new Error(`${written} instead of ${markdown}`)
  })
  fc.assert(property, runsTimes(10))
  t.pass('both agree')
  t.end()
})

t.test('what a translator has to leave alone survives a translation', async (t) => {
  const link = { type: 'link', attrs: { href: 'https://example.test/a?b=c', target: '_blank', title: 'Where to' } }
  const image = {
    type: 'inlineImage',
    attrs: { attachmentId: null, src: '/i.png', alt: 'A house', title: '', width: 20 },
  }
  const cases: [BodyNode, string, string, BodyNode][] = [
    [
      p('Read ', text('this', 'bold', link), ' and ', text('npm i', 'code'), '.'),
      'Read **[this](https://example.test/a?b=c "Where to")** and `npm i`.',
      'Führe `npm i` aus und lies [**dies**](https://example.test/a?b=c "Wohin").',
      p('Führe ', text('npm i', 'code'), ' aus und lies ', text('dies', 'bold', link), '.'),
    ],
    [
      p('Hello ', node('mention', { id: 'usr_1', label: 'Ann' }), ', see ', image),
      'Hello <x1>@Ann</x1>, see ![A house](/i.png)',
      'Siehe ![Ein Haus](/i.png), <x1>@Anna</x1>',
      p(
        'Siehe ',
        { ...image, attrs: { ...image.attrs, alt: 'Ein Haus' } },
        ', ',
        node('mention', { id: 'usr_1', label: 'Ann' }),
      ),
    ],
    [
      p('It is ', text('red', { type: 'textStyle', attrs: { color: '#f00' } }), ' and $5'),
      'It is <x1>red</x1> and $5',
      'Für $5 ist es <x1>rot</x1>',
      p('Für $5 ist es ', text('rot', { type: 'textStyle', attrs: { color: '#f00' } })),
    ],
    [
      p('E is ', node('inlineMath', { latex: 'mc^2' }), node('footnoteReference', { label: '1' })),
      'E is $$mc^2$$[^1]',
      'E ist $$mc^2$$[^1]',
      p('E ist ', node('inlineMath', { latex: 'mc^2' }), node('footnoteReference', { label: '1' })),
    ],
    [p('1. not a list'), '1\\. not a list', '1. keine Liste', p('1. keine Liste')],
    [p('a *star*'), 'a \\*star\\*', '# - > ein \\*Stern\\*', p('# - > ein *Stern*')],
  ]
  for (const [original, markdown, answer, expected] of cases) {
    const inline = (await computeMarkdown(contentOf(original))) as InlineMarkdown
    t.equal(inline.markdown, markdown)
    t.strictSame(await computeContent({ inline, translation: answer }), contentOf(expected), answer)
  }
})

t.test('an answer that lost, doubled or invented something is refused', async (t) => {
  const content = contentOf(
    p(
      'Read ',
      text('this', { type: 'link', attrs: { href: 'https://a.test' } }),
      ', ',
      text('x', 'code'),
      ' ',
      node('mention', { id: 'u', label: 'Ann' }),
    ),
  )
  const inline = (await computeMarkdown(content)) as InlineMarkdown
  const good = 'Lies [dies](https://a.test), `x` <x1>@Ann</x1>'
  t.ok(await computeContent({ inline, translation: good }))
  for (const answer of [
    '',
    '   ',
    'Lies dies, `x` <x1>@Ann</x1>',
    'Lies [dies](https://evil.test), `x` <x1>@Ann</x1>',
    'Lies [dies](javascript:alert(1)), `x` <x1>@Ann</x1>',
    'Lies [dies](https://a.test), `y` <x1>@Ann</x1>',
    'Lies [dies](https://a.test), `x` @Ann',
    'Lies [dies](https://a.test), `x` <x1>@Ann</x1> <x1>@Ann</x1>',
    'Lies [dies](https://a.test), `x` </x1>@Ann<x1>',
    'Lies [dies](https://a.test), `x` <x2>@Ann</x2>',
    'Lies **[dies](https://a.test)**, `x` <x1>@Ann</x1>',
    'Lies [dies](https://a.test), `x` <x1>@Ann</x1> <script>alert(1)</script>',
    'Lies [dies](https://a.test), `x` <x1>@Ann</x1> ![](https://evil.test/pixel.png)',
    '[dies](https://a.test) `x` <x1>@Ann</x1> \u0000',
    `${'*_'.repeat(20_000)} [dies](https://a.test) \`x\` <x1>@Ann</x1>`,
  ]) {
    t.equal(await computeContent({ inline, translation: answer }), null, JSON.stringify(answer.slice(0, 80)))
  }
  t.ok(await computeContent({ inline, translation: good.replace(', ', ',\n- ') }), 'line breaks are forgiven')
})

function contentOf(block: BodyNode): BodyNode[] {
  return doc(block).content[0]?.content ?? []
}
