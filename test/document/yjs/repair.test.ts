import fc from 'fast-check'
import * as Y from 'yjs'
import type { BodyNode } from '../../../shared/body/document.ts'
import { bodyFragment, type RawDocument, readDocument, writeNodes } from '../../../shared/body/yjs/encoding.ts'
import { repairDocument } from '../../../shared/body/yjs/repair.ts'
import { followInto } from '../../../shared/body/yjs/state.ts'
import { asRead } from '../../../shared/body/yjs/work.ts'
import { t } from '../../support/tap.ts'
import { blocksOf, idFrom, normalised, randomBody } from './random-body.ts'
import { wreck } from './wreck.ts'

t.test('whatever a live merge leaves behind becomes a valid document with all its text', async (t) => {
  fc.assert(
    fc.property(wreck(), (raw) => {
      const { document, repairs } = repairDocument(raw, 'doc_1@7')
      const valid = normalised(document)
      if (words(valid) !== words(raw)) throw new Error(`${words(raw)} became ${words(valid)}`)
      const again = repairDocument(document, 'doc_1@8')
      if (again.document !== document || again.repairs.length > 0) throw new Error('a repaired document was repaired')
      if (repairs.length === 0 && document !== raw) throw new Error('a change was not reported')
      same(repairDocument(raw, 'doc_1@7').document, document)
    }),
  )
  t.pass()
})

t.test('a valid document is left alone', async (t) => {
  fc.assert(
    fc.property(randomBody(), (body) => {
      const { document, repairs } = repairDocument(body, 'doc_1@7')
      if (document !== body || repairs.length > 0) throw new Error(JSON.stringify(repairs))
    }),
  )
  t.pass()
})

t.test('a repair reaches the editors: their documents read like the repaired one', async (t) => {
  fc.assert(
    fc.property(wreck(), (wrecked) => {
      const doc = new Y.Doc()
      const fragment = bodyFragment(doc)
      fragment.insert(0, writeNodes(wrecked.content))
      const from = readDocument(fragment).document
      const { document } = repairDocument(from, 'doc_1@7')
      followInto(doc, { from, to: document, live: asRead })
      same(normalised(readDocument(fragment).document), normalised(document))
    }),
  )
  t.pass()
})

t.test('a table with a gap gets the missing cells, each like the last cell of its row', async (t) => {
  const cell = (type = 'tableCell', attrs: BodyNode['attrs'] = {}): BodyNode => ({
    type,
    attrs,
    content: [{ type: 'paragraph' }],
  })
  const cells = (count: number, type = 'tableCell') => Array.from({ length: count }, () => cell(type))
  for (const [rows, widths] of [
    [
      [cells(4), cells(4), cells(4), cells(3)],
      [4, 4, 4, 4],
    ],
    [
      [cells(1, 'tableHeader'), cells(3)],
      [3, 3],
    ],
    [
      [[cell('tableCell', { colspan: 3 })], cells(3), cells(1)],
      [1, 3, 3],
    ],
    [
      [[cell('tableCell', { rowspan: 2 }), ...cells(2)], cells(2), cells(2)],
      [3, 2, 3],
    ],
    [
      [[cell('tableCell', { rowspan: 9, colspan: 2 })], cells(1), cells(2)],
      [3, 2, 2],
    ],
    [
      [cells(2), cells(2)],
      [2, 2],
    ],
    [
      [[cell('tableCell', { colspan: 1000 })], ...Array.from({ length: 9 }, () => cells(1))],
      [1, ...cells(9).map(() => 1)],
    ],
  ] as const) {
    const content = rows.map((row) => ({ type: 'tableRow', content: [...row] }))
    const { document } = repairDocument(normalised({ type: 'doc', content: [{ type: 'table', content }] }), 'doc_1@7')
    const table = document.content[0]?.content ?? []
    t.same(
      table.map((row) => row.content?.length),
      widths,
    )
    t.equal(table[0]?.content?.at(-1)?.type, rows[0][0]?.type, 'a head stays a head')
    t.equal(repairDocument(document, 'doc_1@8').document, document)
  }
})

t.test('of the halves of a split paragraph the first keeps the block id', async (t) => {
  const half = (text: string): BodyNode => ({
    type: 'paragraph',
    attrs: { id: idFrom(1) },
    content: [{ type: 'text', text }],
  })
  const { document, repairs } = repairDocument({ type: 'doc', content: [half('first'), half('second')] }, 'doc_1@7')
  t.equal(document.content[0]?.attrs?.id, idFrom(1))
  t.match(document.content[1]?.attrs?.id, /^block_[0-9A-HJKMNP-TV-Z]{26}$/)
  t.not(document.content[1]?.attrs?.id, idFrom(1))
  t.strictSame(repairs, [{ kind: 'id_changed', type: 'paragraph', block_id: idFrom(1) }])
  const later = repairDocument({ type: 'doc', content: [half('first'), half('second')] }, 'doc_1@8')
  t.not(later.document.content[1]?.attrs?.id, document.content[1]?.attrs?.id)
})

t.test('lists and tables that were emptied from two sides go, cells stay', async (t) => {
  const cell = { type: 'tableCell', attrs: { id: idFrom(4) } }
  const row = { type: 'tableRow', attrs: { id: idFrom(3) }, content: [cell] }
  const content = [
    { type: 'bulletList', attrs: { id: idFrom(1) } },
    { type: 'table', attrs: { id: idFrom(2) }, content: [row, { type: 'tableRow', attrs: { id: idFrom(5) } }] },
    { type: 'blockquote', attrs: { id: idFrom(6) }, content: [{ type: 'bulletList', attrs: { id: idFrom(7) } }] },
  ]
  const { document } = repairDocument({ type: 'doc', content }, 'doc_1@7')
  const types = blocksOf(document as BodyNode).map(({ node }) => node.type)
  t.strictSame(types, ['table', 'tableRow', 'tableCell', 'paragraph'])
})

/** The words of all texts, sorted: text may move in details that lack a part. */
function words(node: BodyNode | RawDocument): string {
  const own = 'text' in node ? (node.text ?? '') : ''
  return (own + (node.content ?? []).map(words).join(' ')).match(/w\d+/g)?.sort().join(' ') ?? ''
}

function same(got: unknown, want: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)]
  if (left !== right) throw new Error(`got  ${left}\nwant ${right}`)
}
