import { type Static, Type } from 'typebox'
import { Refusal } from '../../../shared/errors/errors.ts'
import {
  type ChildNode,
  type DocumentNode,
  KnowledgeBase,
  type TreeNode,
} from '../../../shared/knowledge-bases/schema.ts'
import { IntegerId } from '../../../shared/schema/identifiers.ts'
import { maxTokens, mostWithin, shortName } from '../budget.ts'
import type { Door } from '../door.ts'
import { furtherOnes, NextCursor, pageThatFits } from '../paging.ts'
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
  next_cursor: NextCursor,
})

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
    if (folder_id !== undefined) return pageThatFits((limit) => childrenOf(door, { folder_id, cursor, limit, budget }))
    if (knowledge_base_id !== undefined) return partOfTree(door, { knowledge_base_id, depth, cursor, budget })
    return pageThatFits((limit) => knowledgeBases(door, { cursor, limit, budget }))
  },
})

type Page = { cursor: string | undefined; limit: number; budget: number }

async function knowledgeBases(door: Door, { cursor, limit, budget }: Page) {
  const { data, page } = await door<Static<typeof KnowledgeBase>[]>({
    operationId: 'listKnowledgeBases',
    query: { cursor, limit },
  })
  const all = data.map(({ id, name, document_count, folder_count }) => ({
    id,
    name: shortName(name),
    document_count,
    folder_count,
  }))
  const answer = mostWithin(all, {
    budget,
    make: (shown) => ({
      structured: { knowledge_bases: [...shown], ...rest(page) },
      summary: `${shown.length} knowledge bases${furtherOnes(page)}.`,
      untrusted: shown
        .map(({ id, name, document_count: count }) => `${id}: ${oneLine(name)} (${count} documents)`)
        .join('\n'),
    }),
  })
  return { answer, isWhole: answer.structured.knowledge_bases.length === all.length }
}

async function childrenOf(door: Door, { folder_id, cursor, limit, budget }: Page & { folder_id: number }) {
  const { data, page } = await door<Static<typeof ChildNode>[]>({
    operationId: 'listFolderChildren',
    params: { id: folder_id },
    query: { cursor, limit },
  })
  const answer = mostWithin(
    data.map((node) => itemOf(node, 0)),
    { budget, make: (shown) => itemsAnswer(shown, page) },
  )
  return { answer, isWhole: answer.structured.items.length === data.length }
}

type Tree = { knowledge_base_id: number; depth: number; cursor: string | undefined; budget: number }

// A tree comes whole. So its cursor is the number of entries that were shown, behind the number of levels.
async function partOfTree(door: Door, { knowledge_base_id, depth, cursor, budget }: Tree) {
  const [, levels = depth, before = 0] = /^(\d{1,2})\.(\d{1,9})$/.exec(cursor ?? '') ?? []
  if (cursor !== undefined && typeof levels === 'number') throw new Refusal('invalid_cursor')
  const { data } = await door<{ children: TreeNode[] }>({ operationId: 'getTree', params: { id: knowledge_base_id } })
  const all = flattened(data.children, { depth: 0, levels: Number(levels) })
  const start = Number(before)
  return mostWithin(all.slice(start), {
    budget,
    make: (shown) => {
      const end = start + shown.length
      return itemsAnswer(shown, { next_cursor: end < all.length ? `${levels}.${end}` : null })
    },
  })
}

function itemsAnswer(shown: readonly Item[], page: { next_cursor: string | null } | null) {
  return {
    structured: { items: [...shown], ...rest(page) },
    summary: `${shown.length} entries${furtherOnes(page)}.`,
    untrusted: shown
      .map(({ type, id, name, depth }) => `${'  '.repeat(depth)}${type} ${id}: ${oneLine(name)}`)
      .join('\n'),
  }
}

function rest(page: { next_cursor: string | null } | null) {
  return { freshness: 'current' as const, next_cursor: page?.next_cursor ?? null }
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
    ? { type: 'document', id: node.id, name: shortName(node.title), depth, updated_at: node.updated_at }
    : { type: 'folder', id: node.id, name: shortName(node.name), depth }
}
