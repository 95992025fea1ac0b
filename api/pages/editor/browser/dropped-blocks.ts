import { isMacOS } from '@tiptap/core'
import { NodeRangeSelection } from '@tiptap/extension-node-range'
import { type Node as DocumentNode, Fragment, Slice } from '@tiptap/pm/model'
import { NodeSelection, Plugin, type Selection } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import { isBlockType } from '../../../../shared/body/nodes.ts'

// What ProseMirror knows of a drag. Its types do not say that `node` is the selection which a move deletes.
type Drag = { slice: Slice; move: boolean; node?: Selection | undefined }

/**
 * Drops what is dragged as it is at the drop. ProseMirror drops what was there when the drag began, and a move deletes
 * what is there now. So it would delete what others have written during the drag. Whether the drop moves or copies is
 * decided at the drop, too. A drop does nothing when others have deleted or parted the dragged blocks.
 */
export function droppedBlocks(): Plugin {
  return new Plugin({
    props: {
      dragCopies: isCopy,
      handleDOMEvents: {
        drop(view, event) {
          if (view.dragging === null) return false
          const now = dragNow(view, view.dragging)
          view.dragging = now && { ...now, move: !isCopy(event) }
          if (now === null) event.preventDefault()
          return now === null
        },
      },
    },
  })
}

function isCopy(event: DragEvent): boolean {
  return isMacOS() ? event.altKey : event.ctrlKey
}

function dragNow({ state }: EditorView, drag: Drag): Drag | null {
  const ids = idsOfWholeBlocks(drag.slice)
  if (ids === null) {
    const selection = drag.node ?? state.selection
    return selection.empty ? drag : { ...drag, slice: selection.content() }
  }
  const selection = selectionOf(ids, state.doc)
  if (selection === null) return null
  const slice = new Slice(Fragment.from(blocksIn(selection)), 0, 0)
  return { ...drag, slice, node: selection }
}

// The ids of the dragged blocks; null when a part of a block is dragged.
function idsOfWholeBlocks({ content, openStart, openEnd }: Slice): string[] | null {
  const isWhole = ({ type, attrs }: DocumentNode) => isBlockType(type.name) && typeof attrs['id'] === 'string'
  if (openStart > 0 || openEnd > 0 || content.size === 0 || !content.content.every(isWhole)) return null
  return content.content.map(({ attrs }) => attrs['id'])
}

// Selects the blocks with these ids; null when one of them is gone, or when others stand between them.
function selectionOf(ids: readonly string[], doc: DocumentNode): Selection | null {
  const found: number[] = []
  doc.descendants((node, position) => {
    if (ids.includes(node.attrs['id'])) found.push(position)
  })
  const [first, last] = [found[0], found.at(-1)]
  if (first === undefined || last === undefined || found.length !== ids.length) return null
  if (first === last) return NodeSelection.create(doc, first)
  const $from = doc.resolve(first)
  const $to = doc.resolve(last + (doc.nodeAt(last)?.nodeSize ?? 0))
  const areNeighbours = $from.sameParent($to) && $to.index() - $from.index() === ids.length
  return areNeighbours ? new NodeRangeSelection($from, $to, $from.depth) : null
}

function blocksIn({ ranges }: Selection): DocumentNode[] {
  return ranges.flatMap(({ $from }) => $from.nodeAfter ?? [])
}
