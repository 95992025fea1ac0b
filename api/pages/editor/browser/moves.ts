import { type Editor, Extension } from '@tiptap/core'
import { DragHandle } from '@tiptap/extension-drag-handle'
import { Fragment, type NodeRange } from '@tiptap/pm/model'
import { GripVertical } from 'lucide'
import { droppedBlocks } from './dropped-blocks.ts'
import { signElement } from './icons.ts'

// The nodes among whose children a block is moved by the keyboard.
const parents = new Set(['doc', 'bulletList', 'orderedList', 'taskList'])

/** Alt+Up and Alt+Down move the selected blocks or items of a list before or behind their neighbour. */
export const BlockMoves = Extension.create({
  name: 'blockMoves',
  addKeyboardShortcuts() {
    return {
      'Alt-ArrowUp': () => moveBlocks(this.editor, 'up'),
      'Alt-ArrowDown': () => moveBlocks(this.editor, 'down'),
    }
  },
  addProseMirrorPlugins: () => [droppedBlocks()],
})

/** The handle beside the block under the mouse, by which the block is dragged. A dragged block keeps its id. */
export const BlockHandle = DragHandle.configure({
  render() {
    const handle = document.createElement('div')
    handle.className = 'drag-handle'
    handle.title = 'Drag to move'
    // The mouse shows it, beside a block.
    handle.style.visibility = 'hidden'
    // People who do not use a mouse move blocks by the keyboard.
    handle.setAttribute('aria-hidden', 'true')
    handle.append(signElement(GripVertical))
    return handle
  },
})

/**
 * Moves the selected blocks one place. Returns whether there are such blocks. The neighbour changes its place, so that
 * the selection and the carets of others in the blocks stay.
 */
export function moveBlocks(editor: Editor, direction: 'up' | 'down'): boolean {
  if (!editor.isEditable) return false
  const range = movableRange(editor)
  if (range === null) return false
  const { parent, startIndex, endIndex, start, end } = range
  const index = direction === 'up' ? startIndex - 1 : endIndex
  const neighbour = parent.maybeChild(index)
  if (neighbour === null) return true
  const others = parent.content.content.toSpliced(index, 1)
  others.splice(direction === 'up' ? endIndex - 1 : startIndex, 0, neighbour)
  if (!parent.type.validContent(Fragment.fromArray(others))) return true
  return editor.commands.command(({ tr }) => {
    const from = direction === 'up' ? start - neighbour.nodeSize : end
    tr.delete(from, from + neighbour.nodeSize)
    tr.insert(direction === 'up' ? end - neighbour.nodeSize : start, neighbour)
    tr.scrollIntoView()
    return true
  })
}

function movableRange(editor: Editor): NodeRange | null {
  const { $from, $to } = editor.state.selection
  return $from.blockRange($to, (node) => parents.has(node.type.name))
}
