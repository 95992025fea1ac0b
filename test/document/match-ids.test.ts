import fc from 'fast-check'
import { documentToLines, linesToDocument } from '../../shared/body/canonical.ts'
import { writeBody } from '../../shared/body/content.ts'
import type { BodyNode, DocNode } from '../../shared/body/document.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { t } from '../support/tap.ts'
import { at, doc, h, node, p, ul, withoutIds } from './build.ts'
import { blocksOf, edited, randomBody, randomEdits } from './yjs/random-body.ts'

const limits = { characterLimit: 1e6, byteLimit: 1e7, path: '', anchors: false }

/** What a whole write of a Markdown text or of JSON makes of a stored body. */
function written(stored: DocNode, to: string | DocNode, ids: 'strict' | 'match'): DocNode {
  const storedText = documentToLines(stored).join('\n')
  const input =
    typeof to === 'string'
      ? { format: 'markdown' as const, content: to }
      : { format: 'tiptap-json' as const, content: JSON.stringify(to) }
  return linesToDocument(writeBody({ ...limits, ...input, storedText, ids }).text.split('\n'))
}

/** The names of the stored blocks whose ids the blocks of a Markdown text have after a write; `new` for other ids. */
function idsAfter(stored: Record<string, BodyNode>, markdown: string): string[] {
  const body = doc(...Object.values(stored))
  const names = new Map(Object.keys(stored).map((name, index) => [at(body, index).attrs.id, name]))
  return written(body, markdown, 'match').content.map(({ attrs }) => names.get(attrs.id) ?? 'new')
}

t.test('a text that is written back with changes keeps the ids of what it continues', async (t) => {
  const a = p('The cellar floods each spring.')
  const b = p('Call the plumber before you open the door.')
  const c = p('Keys hang by the stairs.')
  const texts = [a, b, c].map((block) => block.content?.[0]?.text ?? '')
  const cases: Record<string, [Record<string, BodyNode>, string, string[]]> = {
    'a line at the end': [{ a, b, c }, [...texts, 'More.'].join('\n\n'), ['a', 'b', 'c', 'new']],
    'a line at the start': [{ a, b }, ['More.', texts[0], texts[1]].join('\n\n'), ['new', 'a', 'b']],
    'an edit': [{ a, b, c }, [texts[0], 'Call the plumber first.', texts[2]].join('\n\n'), ['a', 'b', 'c']],
    'an edit beside a line': [
      { a, b },
      [texts[0], 'Something new.', 'Call the plumber before opening the door.'].join('\n\n'),
      ['a', 'new', 'b'],
    ],
    'a block between two that stay': [{ a, b, c }, [texts[0], 'Rewritten.', texts[2]].join('\n\n'), ['a', 'b', 'c']],
    'two blocks between two that stay': [
      { a, b, c },
      `${texts[0]}\n\nOne.\n\nTwo.\n\n${texts[2]}`,
      ['a', 'new', 'new', 'c'],
    ],
    'another order': [{ a, b, c }, [texts[2], texts[0], texts[1]].join('\n\n'), ['c', 'a', 'b']],
    'a paragraph that becomes a heading': [{ a, b }, `# ${texts[0]}\n\n${texts[1]}`, ['new', 'b']],
    'equal blocks': [{ a, b, c: a }, [texts[0], texts[1], texts[0], texts[0]].join('\n\n'), ['a', 'b', 'c', 'new']],
    'scripts without spaces': [
      { a: p('地下室每年春天都会进水'), b: p('钥匙挂在楼梯旁边') },
      '新的一行\n\n地下室每年秋天都会进水\n\n钥匙挂在门的旁边',
      ['new', 'a', 'b'],
    ],
    'a picture with another address': [
      { a, b: node('image', { src: 'https://example.org/1.png', alt: 'A plan of the cellar' }), c },
      `# New\n\n![A plan of the cellar](https://example.org/2.png)\n\n${texts[2]}`,
      ['new', 'b', 'c'],
    ],
    'a line between two rules': [
      { a: node('horizontalRule'), b: node('horizontalRule') },
      '***\n\nNew.\n\n***',
      ['a', 'new', 'b'],
    ],
  }
  for (const [name, [stored, markdown, expected]] of Object.entries(cases)) {
    t.strictSame(idsAfter(stored, markdown), expected, name)
  }
})

t.test('items of a list keep their ids when one is added, and when the list moves into a quote', async (t) => {
  const stored = doc(h(1, 'Shopping'), ul(p('two bottles of milk'), p('a loaf of bread')))
  const items = (body: DocNode) => blocksOf(body).filter(({ node }) => node.type === 'listItem')
  const ids = (body: DocNode) => items(body).map(({ node }) => node.attrs?.id)
  const [milk, bread] = ids(stored)
  const added = written(stored, '# Shopping\n\n- butter\n- two bottles of milk\n- a loaf of rye bread', 'match')
  t.strictSame(ids(added).slice(1), [milk, bread])
  const quoted = written(stored, '> - two bottles of milk\n> - a loaf of bread', 'match')
  t.strictSame(ids(quoted), [milk, bread])
})

t.test('blocks inside an anchored list continue the blocks of that list', async (t) => {
  const stored = doc(ul(p('two bottles of milk'), p('a loaf of bread')), ul(p('two bottles of milk')))
  const first = at(stored, 0)
  const body = written(stored, `<!-- block=${first.attrs.id} -->\n- butter\n- two bottles of sour milk`, 'match')
  const [, item] = body.content[0]?.content ?? []
  t.equal(item?.attrs?.id, first.content?.[0]?.attrs?.id)
})

t.test('a write with ids=match stores what a strict write stores, and no id twice', async () => {
  fc.assert(
    fc.property(randomBody(), randomEdits(), fc.infiniteStream(fc.boolean()), (stored, edits, keeps) => {
      const to = edited(stored, edits, 1000)
      const partly = JSON.parse(JSON.stringify(to)) as DocNode
      for (const { node } of blocksOf(partly)) if (keeps.next().value !== true) delete node.attrs?.id
      const { markdown } = toMarkdown(to, { anchors: false })
      const anchored = toMarkdown(to, { anchors: true }).markdown.replace(/<!-- block=.*? -->\n/g, (anchor) =>
        keeps.next().value === true ? anchor : '',
      )
      return [partly, markdown, anchored].every((input) => {
        const [strict, match] = [written(stored, input, 'strict'), written(stored, input, 'match')]
        const ids = blocksOf(match).map(({ node }) => node.attrs?.id)
        return withoutIds(strict) === withoutIds(match) && new Set(ids).size === ids.length
      })
    }),
  )
})

t.test('as many blocks keep their ids as a writer has left alone', async () => {
  fc.assert(
    fc.property(randomBody(), randomEdits(), (stored, edits) => {
      const to = edited(
        stored,
        edits.filter(({ kind }) => kind !== 'move' && kind !== 'wrap'),
        1000,
      )
      const before = new Map(stored.content.map((block) => [block.attrs.id, withoutIds(block)]))
      const isUnchanged = (block: BodyNode) => before.get(String(block.attrs?.id)) === withoutIds(block)
      const json = JSON.parse(withoutIds(to)) as DocNode
      return written(stored, json, 'match').content.filter(isUnchanged).length >= to.content.filter(isUnchanged).length
    }),
  )
})

t.test('a body that is written back as it was read is the stored body, ids included', async () => {
  fc.assert(
    fc.property(randomBody(), (body) => {
      const json = JSON.parse(withoutIds(body)) as DocNode
      return JSON.stringify(written(body, json, 'match')) === JSON.stringify(body)
    }),
  )
})
