import { type AnyExtension, Extension, Mark, Node } from '@tiptap/core'
import { bodySchema, isBlockType } from '../../../shared/body/nodes.ts'

/*
 * What a stock Tiptap editor with the StarterKit lacks for bodies, in the simplest form. Names are those of the guide.
 */

/** The types of all blocks. */
export const blockTypes = Object.keys(bodySchema.nodes).filter(isBlockType)

const stockNames = [
  ...['doc', 'text', 'paragraph', 'heading', 'blockquote', 'bulletList', 'orderedList', 'listItem', 'codeBlock'],
  ...['horizontalRule', 'hardBreak', 'bold', 'italic', 'strike', 'code', 'underline', 'link'],
]

/** Extensions for every node, mark and attribute that the StarterKit does not know. */
export const furtherNodesAndMarks: AnyExtension[] = [
  Extension.create({
    name: 'alignment',
    addGlobalAttributes: () => [
      { types: ['paragraph', 'heading'], attributes: { textAlign: { default: null, rendered: false } } },
    ],
  }),
  ...further(bodySchema.nodes).map(plainNode),
  ...further(bodySchema.marks).map(plainMark),
]

function further(types: object): string[] {
  return Object.keys(types).filter((name) => !stockNames.includes(name))
}

function plainNode(name: string): AnyExtension {
  const { attrs, ...spec } = bodySchema.nodes[name]?.spec ?? {}
  const children: [0] | [] = spec.content === undefined ? [] : [0]
  return Node.create({
    name,
    ...spec,
    addAttributes: () => unrendered(attrs, isBlockType(name) ? 'id' : ''),
    parseHTML: () => [{ tag: `[data-node="${name}"]` }],
    renderHTML: () => [spec.inline ? 'span' : 'div', { 'data-node': name }, ...children],
  })
}

function plainMark(name: string): AnyExtension {
  return Mark.create({
    name,
    addAttributes: () => unrendered(bodySchema.marks[name]?.spec.attrs),
    parseHTML: () => [{ tag: `[data-mark="${name}"]` }],
    renderHTML: () => ['span', { 'data-mark': name }, 0],
  })
}

// The attributes without the one that is declared for all blocks. The text of a page need not show them.
function unrendered(attributes: object = {}, declared = ''): Record<string, object> {
  const named = Object.entries(attributes as Record<string, object>).filter(([name]) => name !== declared)
  return Object.fromEntries(named.map(([name, attribute]) => [name, { ...attribute, rendered: false }]))
}
