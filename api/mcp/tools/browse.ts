import { type Static, Type } from 'typebox'
import {
  type ChildNode,
  type DocumentNode,
  KnowledgeBase,
  type TreeNode,
} from '../../../shared/knowledge-bases/schema.ts'
import { IntegerId } from '../../../shared/schema/identifiers.ts'
import { maxTokens, mostWithin } from '../budget.ts'
import type { Door } from '../door.ts'
import { oneLine } from '../results.ts'
import { tool } from '../tool.ts'

const { id, name, document_count, folder_count } = KnowledgeBase.properties

const Item = Type.Object({
  type: Type.Enum(['folder', 'document']),
  id: Type.Union([IntegerId, Type.String()]),
  name: Type.String(),
  depth: Type.Integer({ description: '0 directly in what was browsed' }),
  updated_at: Type.Optional(Type.Integer()),
})
type Item = Static<typeof Item>

const Output = Type.Object({
  knowledge_bases: Type.Optional(Type.Array(Type.Object({ id, name, document_count, folder_count }))),
  items: Type.Optional(Type.Array(Item)),
  freshness: Type.Literal('current'),
  omitted: Type.Integer({ description: 'entries of this page for which there was no room' }),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
type Output = Static<typeof Output>

/** Lists knowledge bases, and the folders and documents in them. */
export const browse = tool({
  name: 'browse',
  title: 'Browse',
  description:
    'List knowledge bases (no arguments), everything in a knowledge base, or what is directly in a folder. To find text, use search.',
  input: Type.Object({
    knowledge_base_id: Type.Optional(IntegerId),
    folder_id: Type.Optional(IntegerId),
    depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 32, default: 3, description: 'levels' })),
    cursor: Type.Optional(Type.String({ description: 'next_cursor' })),
    max_tokens: maxTokens(4000),
  }),
  output: Output,
  readOnly: true,
  async run({ knowledge_base_id, folder_id, depth = 3, cursor, max_tokens: budget = 4000 }, { door }) {
    if (folder_id !== undefined) return folderAnswer(await childrenOf(door, { folder_id, cursor }), budget)
    if (knowledge_base_id !== undefined) return folderAnswer(await treeOf(door, { knowledge_base_id, depth }), budget)
    return knowledgeBases(door, { cursor, budget })
  },
})

async function knowledgeBases(door: Door, { cursor, budget }: { cursor: string | undefined; budget: number }) {
  const { data, page } = await door<Static<typeof KnowledgeBase>[]>({
    operationId: 'listKnowledgeBases',
    query: { cursor },
  })
  return mostWithin(data, {
    budget,
    make: (shown) => ({
      structured: {
        knowledge_bases: shown.map(({ id, name, document_count, folder_count }) => ({
          id,
          name,
          document_count,
          folder_count,
        })),
        ...rest(data.length - shown.length, page?.next_cursor ?? null),
      },
      summary: `${shown.length} knowledge bases${more(data.length - shown.length, page?.next_cursor ?? null)}.`,
      untrusted: shown
        .map(({ id, name, document_count: count }) => `${id}: ${oneLine(name)} (${count} documents)`)
        .join('\n'),
    }),
  })
}

type Listing = { items: Item[]; next: string | null }

function folderAnswer({ items, next }: Listing, budget: number) {
  return mostWithin(items, {
    budget,
    make: (shown) => ({
      structured: { items: [...shown], ...rest(items.length - shown.length, next) },
      summary: `${shown.length} entries${more(items.length - shown.length, next)}.`,
      untrusted: shown
        .map(({ type, id, name, depth }) => `${'  '.repeat(depth)}${type} ${id}: ${oneLine(name)}`)
        .join('\n'),
    }),
  })
}

function rest(omitted: number, next_cursor: string | null): Pick<Output, 'freshness' | 'omitted' | 'next_cursor'> {
  return { freshness: 'current', omitted, next_cursor }
}

function more(omitted: number, next: string | null): string {
  const cut = omitted > 0 ? `, ${omitted} more left out: browse a folder, raise max_tokens or search` : ''
  return next === null ? cut : `${cut}, further ones with cursor "${next}"`
}

async function childrenOf(
  door: Door,
  { folder_id, cursor }: { folder_id: number; cursor: string | undefined },
): Promise<Listing> {
  const { data, page } = await door<Static<typeof ChildNode>[]>({
    operationId: 'listFolderChildren',
    params: { id: folder_id },
    query: { cursor, limit: 100 },
  })
  return { items: data.map((node) => itemOf(node, 0)), next: page?.next_cursor ?? null }
}

async function treeOf(
  door: Door,
  { knowledge_base_id, depth }: { knowledge_base_id: number; depth: number },
): Promise<Listing> {
  const { data } = await door<{ children: TreeNode[] }>({ operationId: 'getTree', params: { id: knowledge_base_id } })
  return { items: flattened(data.children, { depth: 0, levels: depth }), next: null }
}

function flattened(nodes: readonly TreeNode[], { depth, levels }: { depth: number; levels: number }): Item[] {
  if (depth === levels) return []
  return nodes.flatMap((node) => [
    itemOf(node, depth),
    ...(node.type === 'folder' ? flattened(node.children, { depth: depth + 1, levels }) : []),
  ])
}

function itemOf(node: Static<typeof ChildNode> | TreeNode | DocumentNode, depth: number): Item {
  return node.type === 'document'
    ? { type: 'document', id: node.id, name: node.title, depth, updated_at: node.updated_at }
    : { type: 'folder', id: node.id, name: node.name, depth }
}
