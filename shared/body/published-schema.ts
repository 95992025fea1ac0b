import { blockIdPattern } from '../schema/ids.ts'
import type { Attribute } from './attributes.ts'
import { isBlockType, markTable, nodeTable } from './nodes.ts'

type JsonSchema = { [keyword: string]: unknown }

/** A mark of an inline node, with the attributes that its type may have. */
export const tiptapMark: JsonSchema = { $id: 'TiptapMark', anyOf: Object.keys(markTable).map(markAlternative) }

/** A side that a schema describes: `read` is a node in an answer, `written` a node in a request. */
type Side = 'read' | 'written'

/**
 * The table `nodeTable` as JSON Schema. A `TiptapNode` is any node but the document, with the attributes and the
 * children that its type may have. The schema does not state the order of children; the node table of the API reference
 * (`/api-docs.md`) does.
 */
export const tiptapNode: JsonSchema = {
  $id: 'TiptapNode',
  description: 'A node of a body; `attrs.id` is the block id',
  anyOf: nodeTypes().map((type) => nodeSchema(type, 'read')),
}

/**
 * A node in a request. Block ids and attributes with a default may be missing or null. The service leaves out
 * attributes that `nodeTable` does not list.
 */
export const tiptapNodeInput: JsonSchema = {
  $id: 'TiptapNodeInput',
  description: 'A node of a body to be written; without `attrs.id` a block gets a new id',
  anyOf: nodeTypes().map((type) => nodeSchema(type, 'written')),
}

/** The node and mark tables in Markdown, for the API reference (`/api-docs.md`). */
export function describeNodes(): string {
  const nodes = Object.entries(nodeTable).map(([type, { content, attrs }]) => {
    const holds = type === 'text' ? '`text`, non-empty' : content === undefined ? '–' : `\`${content}\``
    return `| \`${type}\` | ${isBlockType(type) ? 'yes' : 'no'} | ${holds} | ${describeAttributes(attrs)} |`
  })
  const marks = Object.entries(markTable).map(([type, { attrs, excludes }]) => {
    return `| \`${type}\` | ${describeAttributes(attrs)} | ${excludes === undefined ? '–' : 'all but `link`'} |`
  })
  return [
    introduction,
    ['| Node | Block id | Content | Attributes (default) |', '|---|---|---|---|', ...nodes].join('\n'),
    ['| Mark | Attributes (default) | Excludes |', '|---|---|---|', ...marks].join('\n'),
    identity,
  ].join('\n\n')
}

const introduction = `A body is a ProseMirror/Tiptap document. Content is written as in ProseMirror schemas: \`block\` and
\`inline\` are the groups of nodes that stand as blocks and within a line. The service stores one normal form: missing
block ids are added, equal neighbouring texts merged, marks put in the order of the table, attributes that equal their
default and unknown ones left out.`

const identity = `**Block ids** are stable. A block keeps its id when its content, attributes or place change, when anchored
Markdown is written back, and on rollback; splitting, pasting and Markdown without anchors make new ones. An id that
occurs twice is refused with 422 \`duplicate_block_id\`.`

function nodeTypes(): string[] {
  return Object.keys(nodeTable).filter((type) => type !== 'doc')
}

function nodeSchema(type: string, side: Side): JsonSchema {
  const row = nodeTable[type] ?? {}
  const id = isBlockType(type) ? { id: blockIdSchema(side) } : {}
  const properties = { ...id, ...attributeSchemas(row.attrs) }
  const required = [...(side === 'read' ? Object.keys(id) : []), ...requiredNames(row.attrs)]
  const hasAttributes = Object.keys(properties).length > 0
  return {
    title: type,
    type: 'object',
    required: ['type', ...(type === 'text' ? ['text'] : []), ...(required.length > 0 ? ['attrs'] : [])],
    properties: {
      type: { const: type },
      ...(hasAttributes && { attrs: { type: 'object', required, properties } }),
      ...(row.content !== undefined && { content: { type: 'array', items: { $ref: '#' } } }),
      ...(type === 'text' && { text: side === 'read' ? { type: 'string', minLength: 1 } : { type: 'string' } }),
      ...(row.group === 'inline' && { marks: { type: 'array', items: tiptapMark } }),
    },
  }
}

function blockIdSchema(side: Side): JsonSchema {
  const id = { type: 'string', pattern: blockIdPattern }
  return side === 'read' ? id : { anyOf: [id, { type: 'null' }] }
}

function markAlternative(type: string): JsonSchema {
  const { attrs } = markTable[type] ?? {}
  const required = requiredNames(attrs)
  return {
    title: type,
    type: 'object',
    required: ['type', ...(required.length > 0 ? ['attrs'] : [])],
    properties: {
      type: { const: type },
      ...(attrs !== undefined && { attrs: { type: 'object', required, properties: attributeSchemas(attrs) } }),
    },
  }
}

function attributeSchemas(attributes: { [name: string]: Attribute } = {}): JsonSchema {
  return Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, valueSchema(attribute)]))
}

function requiredNames(attributes: { [name: string]: Attribute } = {}): string[] {
  return Object.entries(attributes).flatMap(([name, { required }]) => (required ? [name] : []))
}

function valueSchema({ schema, required }: Attribute): JsonSchema {
  return required ? schema : { anyOf: [schema, { type: 'null' }] }
}

function describeAttributes(attributes: { [name: string]: Attribute } = {}): string {
  const entries = Object.entries(attributes).map(([name, attribute]) => {
    const fallback = attribute.required ? 'required' : JSON.stringify(attribute.default)
    return `\`${name}\` ${attribute.expected} (${fallback})`
  })
  return entries.length > 0 ? entries.join('; ') : '–'
}
