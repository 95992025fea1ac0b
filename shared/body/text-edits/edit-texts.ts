import type { Ahead } from '../../computations/ahead.ts'
import { type Computation, ComputationLimitError, computation } from '../../computations/computation.ts'
import { BlockLines, nodeAt, withNodeAt } from '../block-lines.ts'
import type { BodyLimits } from '../body-limits.ts'
import { withChange } from '../change.ts'
import type { Edited } from '../commit.ts'
import { answerWarnings, type Warning } from '../document.ts'
import { requireHash } from '../edit.ts'
import { parsesAtOnce, timeLimit, tooCostly } from '../markdown/parse-async.ts'
import { refuse } from '../normalise-state.ts'
import { type EditPointer, locate, pointerAt, takeOut } from '../placement.ts'
import type { StoredBody } from '../stored-body.ts'
import { type Adding, addMarkdown, replaceByMarkdown } from './add-markdown.ts'
import { TextReplacer } from './replace-text.ts'
import { type AppliedEdit, type CheckEdit, namedBlocks, type TextEdit } from './schema.ts'

/** The new body that edits by text have made, for `commitBody`, with the members of the answer to the request. */
export type TextEdited = Edited & { applied: AppliedEdit[]; warnings: Warning[] }

/** A body to edit by text: the edits of the request, and the limits on the new body. */
export type TextEditing = { edits: readonly TextEdit[]; limits: BodyLimits }

/**
 * Edits a body by text: the edits in order, each on the result of the edits before it, all or none. Refuses with the
 * codes of `editBody`. Refuses with 503 `service_unavailable` when too many computations wait already.
 */
export async function editTexts(
  ahead: Ahead,
  { current, ...editing }: TextEditing & { current: StoredBody },
): Promise<TextEdited> {
  try {
    return await ahead.result(textEditing, { text: current.text, version: current.version, ...editing })
  } catch (error) {
    throw error instanceof ComputationLimitError ? tooCostly('/edits') : error
  }
}

/**
 * Edits a stored body by text. Every `if_match` is compared with the body before the first edit. Refuses with 404
 * `section_not_found`; 409 `version_conflict`, `text_not_found` and `text_ambiguous`; 422 `block_not_found`,
 * `invalid_position`, `document_too_large`, and the codes with which Markdown is refused. A thread calls this function
 * by its name. @public
 */
export function editBody({ text, version, edits, limits }: StoredEditing): TextEdited {
  const body = new BlockLines(text.split('\n'))
  for (const [index, edit] of edits.entries()) requireHash(body, { operation: edit, index, version })
  const replacer = new TextReplacer(body, limits)
  const adding: Adding = { body, limits, warnings: [], attachments: new Map(), nodes: 0 }
  const applied = edits.map((edit, index): AppliedEdit => {
    const pointer = { path: `/edits/${index}`, operationIndex: index, isKnown: () => true }
    const { ids, count } = applyEdit({ replacer, adding }, edit, pointer)
    return { index, block_ids: ids.slice(0, namedBlocks), count }
  })
  const { warnings, attachments } = adding
  const edited = { text: body.toLines().join('\n'), attachments, applied, warnings: answerWarnings(warnings) }
  return withChange(text, edited)
}

type StoredEditing = TextEditing & { text: string; version: string }
type Applying = { replacer: TextReplacer; adding: Adding }

function applyEdit({ replacer, adding }: Applying, edit: TextEdit, pointer: EditPointer & { operationIndex: number }) {
  if (edit.op === 'replace') {
    const { blockIds: ids, count } = replacer.replace(edit, pointer)
    return { ids, count }
  }
  if (edit.op === 'delete_block') {
    takeOut(adding.body, locate(adding.body, edit.block_id, pointerAt(pointer, '/block_id')), pointer)
    return { ids: [edit.block_id], count: 1 }
  }
  if (edit.op === 'check') return { ids: [check(adding.body, edit, pointerAt(pointer, '/block_id'))], count: 1 }
  const ids =
    edit.op === 'replace_block' ? replaceByMarkdown(adding, edit, pointer) : addMarkdown(adding, edit, pointer)
  return { ids, count: ids.length }
}

// Ticks the task that a block is, or whose text the block is. Nothing else of the task changes.
function check(body: BlockLines, { block_id: id, checked = true }: CheckEdit, pointer: EditPointer): string {
  const { position, path } = locate(body, id, pointer)
  const top = body.block(position)
  for (const taskPath of [path, path.slice(0, -1)]) {
    const node = nodeAt(top, taskPath)
    if (node.type !== 'taskItem') continue
    body.splice(position, 1, [withNodeAt(top, taskPath, { ...node, attrs: { ...node.attrs, checked } })])
    return node.attrs.id
  }
  throw refuse('invalid_position', { ...pointer, blockId: id }, 'the block is neither a task nor the text of one')
}

// The most UTF-16 units that are searched without a thread, over all edits. Searching so many takes a few milliseconds.
const smallSearch = 256 * 1024

// The milliseconds of processor time for each unit that is searched. Replacing characters whose case is folded is the
// slowest and takes half of that.
const searchTime = 0.0004

const textEditing: Computation<StoredEditing, TextEdited> = computation({
  module: import.meta.url,
  run: editBody,
  isSmall: ({ text, edits }) => text.length * edits.length <= smallSearch && parsesAtOnce(markdownOf(edits)),
  cpuMs: ({ text, edits }) =>
    Math.min(30_000, 2000 + text.length * edits.length * searchTime) + timeLimit(markdownOf(edits).length),
})

function markdownOf(edits: readonly TextEdit[]): string {
  return edits.map((edit) => ('markdown' in edit ? edit.markdown : '')).join('\n')
}
