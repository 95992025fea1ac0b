import { type Static, Type } from 'typebox'
import { DocumentChanges } from '../../../shared/changes/schema.ts'
import { Document } from '../../../shared/documents/schema.ts'
import { IntegerId, Nullable } from '../../../shared/schema/identifiers.ts'
import { mostWithin, shortName } from '../budget.ts'
import type { Door } from '../door.ts'
import { pageThatFits } from '../paging.ts'
import { oneLine } from '../results.ts'
import { tool } from '../tool.ts'

const { freshness, complete, sync_required, has_more } = DocumentChanges.properties
const { op, block_id, hash, text_excerpt, changed_at } = DocumentChanges.properties.changes.items.properties
const Change = Type.Object({ op, block_id, hash, text_excerpt, changed_at })
const { id, title, version, updated_at, updated_by } = Document.properties
const Changed = Type.Object({ id, title, version, updated_at, updated_by })

const Output = Type.Object({
  freshness,
  version: Type.Optional(Nullable(Type.String())),
  cursor: Nullable(Type.String()),
  complete: Type.Optional(complete),
  sync_required: Type.Optional(sync_required),
  has_more,
  changes: Type.Optional(Type.Array(Change)),
  documents: Type.Optional(Type.Array(Changed)),
  omitted: Type.Integer(),
})

// The most tokens of an answer, and the most documents.
const budget = 4000
const mostDocuments = 20

/** Says what has changed: in one document since a cursor, or which documents since a time. */
export const changes = tool({
  name: 'changes',
  title: 'Changes',
  description:
    'What changed in a document since a cursor (the first call, without cursor, gives one), or without document_id: the documents changed last, newest first. sync_required: read the document again.',
  input: Type.Object({
    document_id: Type.Optional(Type.String()),
    cursor: Type.Optional(Type.String()),
    knowledge_base_id: Type.Optional(IntegerId),
    since: Type.Optional(Type.String({ description: 'ISO 8601, of documents' })),
  }),
  output: Output,
  readOnly: true,
  async run({ document_id, cursor, knowledge_base_id, since }, { door }) {
    if (document_id !== undefined) return documentChanges(door, { document_id, cursor })
    return pageThatFits((limit) => changedDocuments(door, { cursor, knowledge_base_id, since, limit }))
  },
})

async function documentChanges(
  door: Door,
  { document_id, cursor }: { document_id: string; cursor: string | undefined },
) {
  const { data } = await door<Static<typeof DocumentChanges>>({
    operationId: 'listChanges',
    params: { id: document_id },
    query: { after: cursor },
  })
  const writes = writesOf(data.changes)
  const whole = mostWithin(writes, {
    budget,
    make: (shown) => changesAnswer(data, { shown, left: writes.length - shown.length }),
  })
  const [first = []] = writes
  if (whole.structured.changes.length > 0 || first.length === 0) return whole
  // One write alone is larger than the answer, so a part of it is shown, and the document has to be read again.
  return mostWithin(first, {
    budget,
    make: (part) =>
      changesAnswer(data, { shown: [part], left: writes.length - 1, omitted: first.length - part.length }),
  })
}

type BlockChange = Static<typeof DocumentChanges>['changes'][number]

// The changes of each write, which have one cursor.
function writesOf(changes: readonly BlockChange[]): BlockChange[][] {
  const writes = new Map<string, BlockChange[]>()
  for (const change of changes) {
    const write = writes.get(change.cursor)
    if (write === undefined) writes.set(change.cursor, [change])
    else write.push(change)
  }
  return [...writes.values()]
}

// `left` counts the writes behind those that are shown. The cursor stands behind what is shown, so the next call has
// these writes. `omitted` counts the changes for which there is no room in any answer.
function changesAnswer(
  data: Static<typeof DocumentChanges>,
  { shown, left, omitted = 0 }: { shown: readonly (readonly BlockChange[])[]; left: number; omitted?: number },
) {
  const all = shown.flat()
  const last = left === 0 ? undefined : all.at(-1)
  const cursor = last?.cursor ?? data.next_cursor ?? data.cursor
  const version = last?.source_version ?? data.source_version
  const sync_required = data.sync_required || omitted > 0
  const has_more = data.has_more || left > 0
  const changes = all.map(({ op, block_id, hash, text_excerpt, changed_at }) => ({
    op,
    block_id,
    hash,
    text_excerpt,
    changed_at,
  }))
  return {
    structured: {
      freshness: data.freshness,
      version,
      cursor,
      complete: data.complete && omitted === 0,
      sync_required,
      has_more,
      changes,
      omitted,
    },
    summary: [
      `Document ${data.document_id}, version ${version ?? 'unknown'}, ${data.freshness}:`,
      data.baseline ? 'a first cursor.' : `${all.length} changed blocks${omitted > 0 ? `, ${omitted} left out` : ''}.`,
      ...(sync_required ? ['Read the document again.'] : []),
      ...(cursor === null ? [] : [`${has_more ? 'More with the' : 'Next'} cursor "${cursor}".`]),
    ].join(' '),
    untrusted: changes
      .map(({ op, block_id, text_excerpt }) => `${op} ${block_id}: ${oneLine(text_excerpt)}`)
      .join('\n'),
  }
}

type DocumentsAsked = {
  cursor: string | undefined
  knowledge_base_id: number | undefined
  since: string | undefined
  limit: number
}

async function changedDocuments(door: Door, asked: DocumentsAsked) {
  const { data, page } = await door<Static<typeof Document>[]>({
    operationId: 'listDocuments',
    query: {
      sort: 'updated_at',
      limit: Math.min(asked.limit, mostDocuments),
      cursor: asked.cursor,
      knowledge_base_id: asked.knowledge_base_id,
      updated_since: asked.since,
    },
  })
  const all = data.map(({ id, title, version, updated_at, updated_by }) => ({
    id,
    title: shortName(title),
    version,
    updated_at,
    updated_by,
  }))
  const next = page?.next_cursor ?? null
  const answer = mostWithin(all, {
    budget,
    make: (shown) => ({
      structured: {
        freshness: 'current' as const,
        cursor: next,
        has_more: page?.has_more ?? false,
        documents: [...shown],
        omitted: all.length - shown.length,
      },
      summary: `${shown.length} documents, changed last first${next === null ? '' : `; more with cursor "${next}"`}.`,
      untrusted: shown
        .map(({ id, title, updated_at }) => `${id} ${new Date(updated_at).toISOString()}: ${oneLine(title)}`)
        .join('\n'),
    }),
  })
  return { answer, isWhole: answer.structured.omitted === 0 }
}
