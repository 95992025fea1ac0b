import { blockIdPattern } from '../ids.ts'
import type { Attribute } from './attributes.ts'
import { isBlockType, markTable, nodeTable } from './nodes.ts'

type JsonSchema = { [keyword: string]: unknown }

const markSchema: JsonSchema = {
  $id: 'TiptapMark',
  anyOf: Object.entries(markTable).map(([type, { attrs }]) => ({
    title: type,
    type: 'object',
    required: ['type'],
    properties: {
      type: { const: type },
      ...(attrs !== undefined && {
        attrs: {
          type: 'object',
          properties: Object.fromEntries(
            Object.entries(attrs).map(([name, attribute]) => [name, valueSchema(attribute)]),
          ),
        },
      }),
    },
  })),
}

/**
 * The node table as JSON Schema, under the names it is published by: a `TiptapNode` is any node but the document, with
 * the attributes and children its type may have. What the order of children must be is in `content` of the reference.
 */
export const tiptapNode: JsonSchema = {
  $id: 'TiptapNode',
  description: 'A node of a body; `attrs.id` is the block id',
  anyOf: Object.keys(nodeTable)
    .filter((type) => type !== 'doc')
    .map(nodeSchema),
}

/** The node and mark tables in Markdown, for the reference. */
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

function nodeSchema(type: string): JsonSchema {
  const row = nodeTable[type] ?? {}
  const attributes = Object.entries(row.attrs ?? {})
  const id = isBlockType(type) ? { id: { type: 'string', pattern: blockIdPattern } } : {}
  const required = [...Object.keys(id), ...attributes.filter(([, { required }]) => required).map(([name]) => name)]
  const properties = {
    ...id,
    ...Object.fromEntries(attributes.map(([name, attribute]) => [name, valueSchema(attribute)])),
  }
  const hasAttributes = Object.keys(properties).length > 0
  return {
    title: type,
    type: 'object',
    required: ['type', ...(type === 'text' ? ['text'] : []), ...(required.length > 0 ? ['attrs'] : [])],
    properties: {
      type: { const: type },
      ...(hasAttributes && { attrs: { type: 'object', required, properties } }),
      ...(row.content !== undefined && { content: { type: 'array', items: { $ref: '#' } } }),
      ...(type === 'text' && { text: { type: 'string', minLength: 1 } }),
      ...(row.group === 'inline' && { marks: { type: 'array', items: markSchema } }),
    },
  }
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
