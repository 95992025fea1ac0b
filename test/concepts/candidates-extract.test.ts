import fc from 'fast-check'
import { documentToLines } from '../../shared/body/canonical.ts'
import type { BodyNode, DocNode } from '../../shared/body/document.ts'
import { plainText } from '../../shared/body/text.ts'
import { extractCandidates } from '../../shared/concepts/candidates/extract.ts'
import { normaliseName } from '../../shared/concepts/names.ts'
import { doc, node, p, text } from '../document/build.ts'
import { anyDocument } from '../document/random.ts'
import { anyCharacter } from '../support/any-character.ts'
import { t } from '../support/tap.ts'

const link = (href: string) => ({ type: 'link', attrs: { href } })

t.test('whatever a document holds, its candidates are short terms that stand in it, each once', async (t) => {
  const anyTitle = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 300 }).map((title) => title.trim() || 'x')
  fc.assert(
    fc.property(anyDocument, anyTitle, (document, title) => {
      const found = extract(document, title)
      const texts = new Map(textblocks(document).map((block) => [block.attrs?.['id'], squeezed(plainText(block))]))
      for (const { name, normalized_name, block_id, excerpt } of found) {
        const source = block_id === null ? title : (texts.get(block_id) ?? '')
        const isWhole = [...name].length <= 200 && name !== '' && normalized_name === normaliseName(name)
        if (!isWhole || !source.includes(excerpt) || !excerpt.isWellFormed()) throw new Error(`${name} in ${source}`)
      }
      const prints = found.map(({ fingerprint }) => fingerprint)
      return (
        new Set(prints).size === prints.length && JSON.stringify(found) === JSON.stringify(extract(document, title))
      )
    }),
  )
  t.pass()
})

t.test('a term is found wherever its link stands, and told apart by its block', async (t) => {
  const term = () => text('Term', link('a.md'))
  const cell = node('tableCell', {}, p(term()))
  const document = doc(
    node('heading', { level: 2 }, term()),
    node('blockquote', {}, p('see ', text('Te', link('a.md'), 'bold'), text('rm', link('a.md')))),
    node('table', {}, node('tableRow', {}, cell)),
    p(text('Term', link('a.md')), text('Other', link('b.md'))),
  )
  const found = extract(document, 'Title')
  const names = found.map(({ name }) => name)
  t.strictSame(names, ['Title', 'Term', 'Term', 'Term', 'Term', 'Other'])
  t.equal(new Set(found.map(({ fingerprint }) => fingerprint)).size, 6)
})

t.test('a fingerprint stays when the writing of the term changes, and nothing else of it', async (t) => {
  const [before] = extract(doc(p('x')), 'Event  Loop')
  const [after] = extract(doc(p('y')), 'event loop')
  t.equal(before?.fingerprint, after?.fingerprint)
  t.not(before?.fingerprint, extract(doc(p('x')), 'event loops')[0]?.fingerprint)
})

function extract(document: DocNode, title: string) {
  return extractCandidates({ documentId: 'doc_1', title, text: documentToLines(document).join('\n') })
}

function textblocks(node: BodyNode | DocNode): BodyNode[] {
  const inner = (node.content ?? []).flatMap(textblocks)
  return 'attrs' in node ? [node, ...inner] : inner
}

function squeezed(value: string): string {
  return value.replace(/\s+/gu, ' ')
}
