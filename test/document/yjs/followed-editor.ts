import type * as Y from 'yjs'
import { canonicalJson, documentToLines } from '../../../shared/body/canonical.ts'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { bodyFragment } from '../../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../../shared/body/yjs/following-body.ts'
import { deriveState, openState } from '../../../shared/body/yjs/state.ts'
import { atOnce } from '../../../shared/computations/slices.ts'

/** A body that is followed, and an editor of it. Everything that the editor does arrives at once. */
export function opened(...blocks: BodyNode[]): { body: FollowingBody; fragment: Y.XmlFragment } {
  const document = { type: 'doc', content: blocks } as DocNode
  const state = deriveState(document)
  const body = atOnce(FollowingBody.open({ updates: [state], lines: documentToLines(document) }))
  const editor = openState(state)
  editor.on('update', (update: Uint8Array) => body.apply(update))
  return { body, fragment: bodyFragment(editor) }
}

/** A program writes the body, and the Y document follows it. */
export function follow(body: FollowingBody, ...blocks: BodyNode[]): void {
  atOnce(body.follow(blocks.map((block) => canonicalJson(block))))
}
