import { type Attribute, type Attributes, type Mark, Node, type NodeConfig } from '@tiptap/core'
import type { DOMOutputSpec, Node as DocumentNode } from '@tiptap/pm/model'
import { bodySchema, nodeTable } from '../../../../shared/body/nodes.ts'

/*
 * Tiptap's extensions in the form of the service's bodies. An editor deletes what it does not know, for everybody. So
 * the content and the attributes of every node and mark come from the one table of the service.
 */

/**
 * A node of Tiptap with exactly the content and the attributes that bodies have. `attributes` says how attributes are
 * read and shown where Tiptap does not know or should not do it.
 */
export function bodyNode<Options, Storage>(
  stock: Node<Options, Storage>,
  attributes: Attributes = {},
): Node<Options, Storage> {
  const { content, attrs } = bodySchema.nodes[stock.name]?.spec ?? {}
  const config: Partial<NodeConfig> = {
    ...(content !== undefined && { content }),
    addAttributes() {
      return exactly(attrs, { ...this.parent?.(), ...attributes })
    },
  }
  return stock.extend(config as object) as Node<Options, Storage>
}

/** A mark of Tiptap with exactly the attributes that bodies have, and beside exactly the marks that bodies allow. */
export function bodyMark<Options, Storage>(
  stock: Mark<Options, Storage>,
  attributes: Attributes = {},
): Mark<Options, Storage> {
  const { excludes, attrs } = bodySchema.marks[stock.name]?.spec ?? {}
  const config = {
    ...(excludes !== undefined && { excludes }),
    addAttributes(this: { parent?: (() => Attributes) | undefined }) {
      return exactly(attrs, { ...this.parent?.(), ...attributes })
    },
  }
  return stock.extend(config as object) as Mark<Options, Storage>
}

/**
 * A node that no package of Tiptap has. `show` says how the node looks; a `0` in its result is the place of the
 * content.
 */
export function ownNode(name: string, show: (node: DocumentNode) => DOMOutputSpec): Node {
  const { attrs, ...spec } = bodySchema.nodes[name]?.spec ?? {}
  return Node.create({
    name,
    ...spec,
    addAttributes: () => exactly(attrs, dataAttributes(name)),
    parseHTML: () => [{ tag: `[data-node="${name}"]`, priority: 60, contentElement: contentOf }],
    renderHTML({ node, HTMLAttributes }) {
      const [tag, own, ...children] = show(node) as [string, object, ...DOMOutputSpec[]]
      return [tag, { 'data-node': name, ...HTMLAttributes, ...own }, ...children]
    },
  })
}

// The declared attributes of a node or mark without the block id, which all blocks get together (`block-ids.ts`).
function exactly(declared: object = {}, known: Attributes): Attributes {
  const own = Object.entries(declared as Record<string, { default?: unknown }>)
  const named = own.filter(([name, { default: value }]) => name !== 'id' || value === undefined)
  return Object.fromEntries(
    named.map(([name, attribute]) => {
      const { default: _, ...reading } = known[name] ?? { rendered: false }
      return [name, { ...reading, ...('default' in attribute ? attribute : { isRequired: true }) }]
    }),
  )
}

// The attributes of an own node as `data-` attributes with JSON values, so that a copy on the clipboard has them. A
// value from elsewhere counts only if a body may have it.
function dataAttributes(type: string): Attributes {
  const rules = Object.entries(nodeTable[type]?.attrs ?? {})
  return Object.fromEntries(
    rules.map(([name, rule]): [string, Partial<Attribute>] => [
      name,
      {
        parseHTML(element) {
          const value = jsonOf(element.getAttribute(`data-${name}`))
          return value !== undefined && rule.check(value) === null ? value : (rule.default ?? '')
        },
        renderHTML: ({ [name]: value }) => (value === null ? {} : { [`data-${name}`]: JSON.stringify(value) }),
      },
    ]),
  ) as Attributes
}

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

function contentOf(element: HTMLElement | globalThis.Node): HTMLElement {
  const own = element as HTMLElement
  return own.querySelector<HTMLElement>(':scope > [data-content]') ?? own
}
