import fc from 'fast-check'
import * as Y from 'yjs'
import { documentToLines } from '../../../shared/body/canonical.ts'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { bodyFragment, readDocument } from '../../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../../shared/body/yjs/following-body.ts'
import { compact, deriveState, mergeUpdates, openState, readState } from '../../../shared/body/yjs/state.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { t } from '../../support/tap.ts'
import { blocksOf, edited, normalised, randomBody, randomEdits } from './random-body.ts'

t.test(
  'a document opened live after many API writes has every block once, also for a browser that was away',
  async (t) => {
    fc.assert(
      fc.property(randomBody(), fc.array(randomEdits(), { minLength: 1, maxLength: 4 }), (body, writes) => {
        const first = deriveState(body)
        const away = openState(first)
        let state = first
        const log: Uint8Array[] = []
        let current = body
        for (const [index, edits] of writes.entries()) {
          const to = edited(current, edits, 1000 * (index + 1))
          const caught = catchUp({ state, from: current, to })
          if (caught.update) log.push(caught.update)
          state = caught.state
          current = to
        }
        for (const update of log) Y.applyUpdate(away, update)
        const want = JSON.stringify(current)
        const logged = compact(first, log.length > 0 ? [mergeUpdates(log)] : [])
        for (const reading of [readState(state), readDocument(bodyFragment(away)).document, readState(logged)]) {
          if (JSON.stringify(normalised(reading)) !== want) throw new Error(`got ${JSON.stringify(reading)}`)
        }
        const ids = blocksOf(current as BodyNode).map(({ node }) => node.attrs?.id)
        if (new Set(ids).size !== ids.length) throw new Error('a block is there twice')
      }),
    )
    t.pass()
  },
)

t.test('writing nothing new tells the browsers nothing', async (t) => {
  fc.assert(
    fc.property(randomBody(), (body) => {
      const state = deriveState(body)
      const caught = catchUp({ state, from: body, to: structuredClone(body) })
      if (caught.update !== null || caught.state !== state) throw new Error('there was an update')
    }),
  )
  t.pass()
})

t.test('compaction forgets deleted text and keeps what is there', async (t) => {
  const paragraph = (text: string) => ({
    type: 'doc',
    content: [
      { type: 'paragraph', attrs: { id: 'block_00000000000000000000000001' }, content: [{ type: 'text', text }] },
    ],
  })
  let body = normalised(paragraph('start'))
  const state = deriveState(body)
  let current = state
  const log: Uint8Array[] = []
  for (let round = 0; round < 50; round++) {
    const to = normalised(paragraph(`${round} ${'long winded '.repeat(20)}${round}`.repeat(1 + (round % 3))))
    const caught = catchUp({ state: current, from: body, to })
    if (caught.update) log.push(caught.update)
    current = caught.state
    body = to
  }
  const compacted = compact(state, log)
  t.strictSame(normalised(readState(compacted)), body)
  t.ok(compacted.length < mergeUpdates([state, ...log]).length / 3)
})

/** Opens a document from its state, follows a write, and closes the document again. */
function catchUp({ state, from, to }: { state: Uint8Array; from: DocNode; to: DocNode }) {
  const body = atOnce(FollowingBody.open({ updates: [state], lines: documentToLines(from) }))
  const updates = atOnce(body.follow(documentToLines(to)))
  if (updates.length === 0) return { update: null, state }
  return { update: mergeUpdates(updates), state: Y.encodeStateAsUpdate(body.doc) }
}
