import { Extension } from '@tiptap/core'
import { type Node as DocumentNode, Fragment, Slice } from '@tiptap/pm/model'
import { type EditorState, Plugin, type Transaction } from '@tiptap/pm/state'
import { Mapping, ReplaceAroundStep, ReplaceStep, type Step } from '@tiptap/pm/transform'
import type { EditorView } from '@tiptap/pm/view'
import { bodySchema, isBlockType } from '../../../../shared/body/nodes.ts'
import { newId } from '../../../../shared/schema/ids.ts'
import { isOwnChange } from './own-changes.ts'

const types = Object.keys(bodySchema.nodes).filter(isBlockType)

/**
 * Gives every block an id that is unique in its document, by the rules of the service. A block that is split keeps its
 * id where its text is. A block whose type changes keeps its id. A block that was cut and pasted keeps its id, and a
 * copy gets a new id.
 */
export const BlockIds = Extension.create({
  name: 'blockIds',
  addGlobalAttributes: () => [
    {
      types,
      attributes: {
        id: {
          default: null,
          parseHTML: (element) => element.getAttribute('data-block-id'),
          renderHTML: ({ id }) => (id === null ? {} : { 'data-block-id': id }),
        },
      },
    },
  ],
  addProseMirrorPlugins: () => [blockIdPlugin()],
})

function blockIdPlugin(): Plugin {
  // The ids of the blocks that were cut in this editor. Only these ids may come back by a paste.
  let cut: ReadonlySet<string> = new Set()
  return new Plugin({
    props: {
      handleDOMEvents: {
        cut(view) {
          cut = idsIn(view.state.selection.content().content)
          return false
        },
      },
      transformPasted: (slice, view) => withKeptIds(slice, view.dragging?.move ? null : free(cut, view)),
    },
    appendTransaction(transactions, before, state) {
      const isOwn = transactions.some((one) => isOwnChange(one) && one.steps.some(bringsBlocks))
      if (!isOwn) return null
      const back = new Mapping(transactions.flatMap(({ mapping }) => mapping.maps)).invert()
      return withUniqueIds(state, (block) => formerId(block, { doc: before.doc, back }))
    },
  })
}

// Typing and marking text bring no blocks. So an ordinary keystroke does not cost a look at the whole document.
function bringsBlocks(step: Step): boolean {
  if (step instanceof ReplaceStep) return step.slice.content.firstChild?.isBlock ?? false
  return step instanceof ReplaceAroundStep
}

type Block = { node: DocumentNode; position: number }

// The commands that change the type of a block make a block without an id around the text that was there. The id is
// that of the block which held this text before; null when the block is new.
function formerId({ node, position }: Block, { doc, back }: { doc: DocumentNode; back: Mapping }): string | null {
  if (node.isLeaf || node.attrs['id'] !== null) return null
  const { pos, deletedAcross: isNew } = back.mapResult(position + 1)
  if (isNew) return null
  const { parent } = doc.resolve(pos)
  return isBlockType(parent.type.name) ? parent.attrs['id'] : null
}

// `formerId` gives the id that a block had before, for a block that has lost its id.
function withUniqueIds(state: EditorState, formerId: (block: Block) => string | null): Transaction | null {
  const keepers = new Map<string, number>()
  const blocks: Block[] = []
  state.doc.descendants((node, position) => {
    if (!isBlockType(node.type.name)) return
    blocks.push({ node, position })
    const id: unknown = node.attrs['id']
    if (typeof id !== 'string') return
    const known = keepers.get(id)
    // Enter at the start of a block puts an empty block before it, so the id goes with the text.
    const isBetter = known === undefined || (isEmpty(state.doc.nodeAt(known)) && !isEmpty(node))
    if (isBetter) keepers.set(id, position)
  })
  const changes = state.tr
  for (const block of blocks) {
    if (keepers.get(block.node.attrs['id']) === block.position) continue
    const former = formerId(block)
    const id = former === null || keepers.has(former) ? newId('block') : former
    keepers.set(id, block.position)
    changes.setNodeAttribute(block.position, 'id', id)
  }
  return changes.docChanged ? changes : null
}

// A node with nothing but empty blocks in it is empty, such as the item of a list that was just made.
function isEmpty(node: DocumentNode | null): boolean {
  return node === null || (!node.isAtom && node.content.content.every((child) => child.isBlock && isEmpty(child)))
}

function free(ids: ReadonlySet<string>, view: EditorView): ReadonlySet<string> {
  return ids.difference(idsIn(view.state.doc.content))
}

function idsIn(content: Fragment): Set<string> {
  const ids = new Set<string>()
  content.descendants((node) => {
    if (isBlockType(node.type.name) && typeof node.attrs['id'] === 'string') ids.add(node.attrs['id'])
  })
  return ids
}

// The slice with the given ids only; with null, with all its ids.
function withKeptIds(slice: Slice, kept: ReadonlySet<string> | null): Slice {
  if (kept === null) return slice
  return new Slice(onlyIds(slice.content, kept), slice.openStart, slice.openEnd)
}

function onlyIds(content: Fragment, kept: ReadonlySet<string>): Fragment {
  const nodes: DocumentNode[] = []
  content.forEach((node) => {
    const copy = node.isText ? node : node.copy(onlyIds(node.content, kept))
    const hasForeignId = isBlockType(node.type.name) && !kept.has(node.attrs['id'])
    nodes.push(hasForeignId ? copy.type.create({ ...node.attrs, id: null }, copy.content, node.marks) : copy)
  })
  return Fragment.fromArray(nodes)
}
