import { type AnyExtension, Extension, Mark, Node } from '@tiptap/core'
import { StarterKit } from '@tiptap/starter-kit'
import { bodySchema, isBlockType } from '../../../shared/body/nodes.ts'

/**
 * Extensions of a stock Tiptap editor for every node, mark and attribute of a body: the StarterKit, and what it lacks in
 * the simplest form. An editor that lacks a node or a mark deletes the content that uses it, for everybody.
 */
export function bodyExtensions(): AnyExtension[] {
  const known = new Set(['doc', 'text', ...stockNames])
  return [
    // Without these settings the kit writes what nobody typed: a last paragraph, and the target and rel of links.
    StarterKit.configure({
      undoRedo: false,
      trailingNode: false,
      link: { openOnClick: false, HTMLAttributes: { target: null, rel: null } },
    }),
    attributesOfBlocks,
    ...Object.values(bodySchema.nodes).flatMap(({ name }) => (known.has(name) ? [] : [plainNode(name)])),
    ...Object.values(bodySchema.marks).flatMap(({ name }) => (known.has(name) ? [] : [plainMark(name)])),
  ]
}

const stockNames = [
  ...['paragraph', 'heading', 'blockquote', 'bulletList', 'orderedList', 'listItem', 'codeBlock'],
  ...['horizontalRule', 'hardBreak', 'bold', 'italic', 'strike', 'code', 'underline', 'link'],
]

// The attributes that the nodes of the StarterKit lack. Both halves of a split block have its id until the server repairs it.
const attributesOfBlocks = Extension.create({
  name: 'attributesOfBlocks',
  addGlobalAttributes: () => [
    {
      types: Object.keys(bodySchema.nodes).filter(isBlockType),
      attributes: { id: { default: null, rendered: false } },
    },
    { types: ['paragraph', 'heading'], attributes: { textAlign: { default: null, rendered: false } } },
  ],
})

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
