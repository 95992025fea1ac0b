import { type Static, Type } from 'typebox'
import { DocumentRelation, Predicate, type RelationCreateInput } from '../../../shared/relations/schema.ts'
import { Nullable } from '../../../shared/schema/identifiers.ts'
import { needed } from '../arguments.ts'
import { shortName } from '../budget.ts'
import type { Door } from '../door.ts'
import { cursor, furtherOnes, NextCursor, pageLength } from '../paging.ts'
import { oneLine } from '../results.ts'
import { type ToolAnswer, tool } from '../tool.ts'

const Input = Type.Object({
  action: Type.Optional(Type.Enum(['list', 'add', 'remove'], { default: 'list' })),
  document_id: Type.Optional(Type.String({ description: 'list: whose; add: the source' })),
  direction: Type.Optional(
    Type.Enum(['outgoing', 'incoming', 'both'], { default: 'both', description: 'incoming: what links here' }),
  ),
  predicate: Type.Optional(Predicate),
  block_id: Type.Optional(Type.String({ description: 'add: the source block' })),
  target_document_id: Type.Optional(Type.String()),
  target_block_id: Type.Optional(Type.String()),
  relation_id: Type.Optional(Type.String({ description: 'remove' })),
  cursor,
})
type Input = Static<typeof Input>

const { id, anchor_text, source_version } = DocumentRelation.properties

const ListedRelation = Type.Object({
  id,
  predicate: Type.String(),
  from: Type.String(),
  from_title: Nullable(Type.String()),
  to: Type.String(),
  to_title: Nullable(Type.String()),
  anchor_text,
  source_version,
  status: Type.String(),
  freshness: Type.String(),
})
type ListedRelation = Static<typeof ListedRelation>

const Output = Type.Object({
  relations: Type.Array(ListedRelation),
  removed_relation_id: Type.Optional(Type.String()),
  next_cursor: NextCursor,
})

type Answer = Promise<ToolAnswer<Static<typeof Output>>>

/** Says what links to a document and what it links to, and keeps relations that stand in no text. */
export const relations = tool({
  name: 'relations',
  title: 'Relations between documents',
  description:
    'List what a document links to and what links to it, with block and text of each link; add or remove a relation that stands in no text. Change links in texts with edit.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  run(args, { door }) {
    if (args.action === 'add') return add(door, args)
    return args.action === 'remove' ? removeRelation(door, args) : list(door, args)
  },
})

async function list(door: Door, args: Input): Answer {
  const { document_id: id } = needed(args, { names: ['document_id'], when: 'to list relations' })
  const { direction, predicate, cursor } = args
  const { data, page } = await door<DocumentRelation[]>({
    operationId: 'listRelations',
    params: { id },
    query: { direction, predicate, cursor, limit: pageLength },
  })
  const relations = data.map(listed)
  return {
    structured: { relations, next_cursor: page?.next_cursor ?? null },
    summary: `${relations.length} relations of ${id}${staleText(relations)}${furtherOnes(page)}.`,
    untrusted: relations.map(line).join('\n'),
  }
}

async function add(door: Door, args: Input): Answer {
  const names = ['document_id', 'block_id', 'target_document_id'] as const
  const { document_id, block_id, target_document_id } = needed(args, { names, when: 'to add a relation' })
  const anchor = args.target_block_id === undefined ? '' : `#block=${args.target_block_id}`
  const body: RelationCreateInput = {
    source_document_id: document_id,
    source_block_id: block_id,
    target_uri: `svc://doc/${target_document_id}${anchor}`,
    ...(args.predicate !== undefined && { predicate: args.predicate }),
  }
  const { data } = await door<DocumentRelation>({ operationId: 'createRelation', body })
  const relation = listed(data)
  return {
    structured: { relations: [relation], next_cursor: null },
    summary: `Added the relation ${relation.id}.`,
    untrusted: line(relation),
  }
}

async function removeRelation(door: Door, args: Input): Answer {
  const { relation_id: id } = needed(args, { names: ['relation_id'], when: 'to remove a relation' })
  await door({ operationId: 'deleteRelation', params: { id } })
  return {
    structured: { relations: [], removed_relation_id: id, next_cursor: null },
    summary: `Removed the relation ${id}.`,
  }
}

function listed({ source, target, evidence_freshness, projection_freshness, ...relation }: DocumentRelation) {
  const { id, predicate, anchor_text, source_version, status } = relation
  return {
    id,
    predicate,
    from: source.uri,
    from_title: titleOf(source),
    to: target.uri,
    to_title: titleOf(target),
    anchor_text: shortName(anchor_text),
    source_version,
    status,
    freshness: evidence_freshness === 'current' ? projection_freshness : evidence_freshness,
  }
}

function titleOf({ document }: DocumentRelation['source']): string | null {
  return document === null ? null : shortName(document.title)
}

function line({ id, predicate, status, freshness, ...ends }: ListedRelation): string {
  const { from, from_title, to, to_title, anchor_text } = ends
  const states = [...(status === 'valid' ? [] : [status]), ...(freshness === 'current' ? [] : [freshness])]
  const state = states.length === 0 ? '' : ` (${states.join(', ')})`
  const text = `${from_title ?? 'deleted'} <${from}> ${predicate} ${to_title ?? 'deleted'} <${to}> by "${anchor_text}"`
  return `${id}: ${oneLine(text)}${state}`
}

function staleText(shown: readonly ListedRelation[]): string {
  const stale = shown.filter(({ freshness }) => freshness === 'stale').length
  return stale === 0 ? '' : `, ${stale} of them from an older text of their source`
}
