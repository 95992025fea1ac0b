import Type, { type Static } from 'typebox'
import type { Caller } from '../auth/caller.ts'
import { type Queryable, sql, type Transaction, withLimitsOf } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { type KnowledgeBaseKey, lockStructure } from '../knowledge-bases/queries.ts'
import { cutText } from '../schema/strings.ts'
import { TagInput, tagKey } from './metadata.ts'
import { eventDocument } from './present.ts'
import { DocumentRow, documentColumns } from './queries.ts'

/** A tag of a knowledge base as the API returns it. */
export const KnowledgeBaseTag = Type.Object(
  {
    tag: Type.String({ description: 'as all documents of the knowledge base spell it' }),
    document_count: Type.Integer({ minimum: 1, description: 'documents with the tag, translations included' }),
  },
  { $id: 'KnowledgeBaseTag' },
)
type KnowledgeBaseTag = Static<typeof KnowledgeBaseTag>

/** Body of `PATCH /knowledge-bases/{id}/tags/{tag}`. */
export const TagUpdateInput = Type.Object({ tag: TagInput }, { $id: 'TagUpdateInput' })

const TagShape = Type.Object({ key: Type.String(), tag: Type.String(), document_count: Type.Number() })
const TagRow = row(TagShape)

/** A tag with the key by which tags are compared and listed. */
export type TagRow = Static<typeof TagShape>

/** Returns up to `limit + 1` tags of a knowledge base in the order of their keys, behind the tag `after`. */
export function tagPage(
  db: Queryable,
  { workspaceId, id, after, limit }: KnowledgeBaseKey & { after: string; limit: number },
): Promise<readonly TagRow[]> {
  return db.any(sql.type(TagRow)`
    ${countedTags({ workspaceId, id })} AND t.key > ${tagKey(after)}
    ORDER BY t.key LIMIT ${limit + 1}`)
}

const countedTags = ({ workspaceId, id }: KnowledgeBaseKey) => sql.fragment`
  SELECT t.key, t.tag, c.document_count FROM knowledge_base_tags t
  CROSS JOIN LATERAL (
    SELECT count(*) AS document_count FROM document_filters f
    WHERE f.workspace_id = t.workspace_id AND f.filter = tag_filter(t.key) AND f.knowledge_base_id = t.knowledge_base_id
  ) AS c
  WHERE t.workspace_id = ${workspaceId} AND t.knowledge_base_id = ${id} AND c.document_count > 0`

const NameRow = row(Type.Object({ tag: Type.String() }))

/** Returns the first tags of a knowledge base, in the order of their keys, without counting their documents. */
export function firstTags(
  db: Queryable,
  { workspaceId, id, limit }: KnowledgeBaseKey & { limit: number },
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(NameRow)`
    SELECT t.tag FROM knowledge_base_tags t
    WHERE t.workspace_id = ${workspaceId} AND t.knowledge_base_id = ${id} AND EXISTS (
      SELECT FROM document_filters f
      WHERE f.workspace_id = t.workspace_id AND f.filter = tag_filter(t.key) AND f.knowledge_base_id = t.knowledge_base_id
    )
    ORDER BY t.key LIMIT ${limit}`)
}

const TaggedShape = Type.Object({ id: Type.String(), tags: Type.Array(Type.String()) })
const TaggedRow = row(TaggedShape)

/** Returns the tags of those among some documents of a workspace that have tags. */
export function tagsOfDocuments(
  db: Queryable,
  { workspaceId, documentIds }: { workspaceId: string; documentIds: readonly string[] },
): Promise<readonly Static<typeof TaggedShape>[]> {
  return db.any(sql.type(TaggedRow)`
    SELECT d.id, d.tags FROM documents d
    WHERE d.workspace_id = ${workspaceId} AND d.id = ANY(${sql.array([...documentIds], 'text')}) AND d.tags <> '{}'`)
}

/** Returns a tag of a knowledge base in the shape of the API. Refuses with 404 `tag_not_found`. */
export async function findTag(
  db: Queryable,
  { base, tag }: { base: KnowledgeBaseKey; tag: string },
): Promise<KnowledgeBaseTag> {
  const found = await readTag(db, { base, key: tagKey(tag) })
  if (found === null) throw tagNotFound(tag)
  return presentTag(found)
}

/** Returns a tag in the shape of the API. */
export function presentTag({ tag, document_count }: TagRow): KnowledgeBaseTag {
  return { tag, document_count }
}

type Change = { tx: Transaction; caller: Caller }

/**
 * Gives a tag of a knowledge base another name in all documents, each with an event. If the knowledge base has a tag of
 * that name, the two become one tag, in the spelling that the knowledge base has. A name that differs only in case
 * respells the tag. Refuses with 404 `tag_not_found` when no document has the tag. The caller may write to the
 * knowledge base. Before two tags become one, `guard` gets the tag that has the name, and may refuse.
 */
export function renameTag(
  context: Change,
  rename: { base: KnowledgeBaseKey; tag: string; name: string; guard?: (other: KnowledgeBaseTag) => void },
): Promise<KnowledgeBaseTag> {
  const { tx } = context
  const { base, tag, name, guard } = rename
  return withLimitsOf(tx, 'whole', async () => {
    const present = await lockTag(tx, { base, tag })
    const key = tagKey(name)
    const other = guard === undefined || present.key === key ? null : await readTag(tx, { base, key })
    if (other !== null) guard?.(presentTag(other))
    const isSpelled = present.key === key && present.tag === name.trim()
    if (present.key === key && !isSpelled) await spell(tx, { base, key, tag: name.trim() })
    if (!isSpelled) await replaceTag(context, { base, present, tags: [name.trim()], keys: [key] })
    const renamed = await readTag(tx, { base, key })
    if (renamed === null) throw new Error('a tag that was renamed is gone')
    return presentTag(renamed)
  })
}

/** Removes a tag from all documents of a knowledge base, each with an event. Refuses as `renameTag` does. */
export function deleteTag(context: Change, { base, tag }: { base: KnowledgeBaseKey; tag: string }): Promise<void> {
  return withLimitsOf(context.tx, 'whole', async () => {
    const present = await lockTag(context.tx, { base, tag })
    await replaceTag(context, { base, present, tags: [], keys: [] })
  })
}

const ForgottenRow = row(Type.Object({ forgotten: Type.Number() }))

/** Forgets the spellings of tags that no document has any more. Returns how many there were. */
export function forgetUnusedTags(db: Queryable): Promise<number> {
  return db.oneFirst(sql.type(ForgottenRow)`SELECT forget_unused_tags() AS forgotten`)
}

/** A tag whose documents are locked. */
type LockedTag = TagRow & { documentIds: readonly string[] }

// The first lock keeps everybody else from giving a tag to a document of the knowledge base. See
// shared/knowledge-bases/README.md. Before the documents are locked, they can still be deleted or moved away.
async function lockTag(tx: Transaction, { base, tag }: { base: KnowledgeBaseKey; tag: string }): Promise<LockedTag> {
  await lockStructure(tx, { workspaceId: base.workspaceId, knowledgeBaseIds: [base.id], mode: 'empty' })
  const key = tagKey(tag)
  const documentIds = await lockTagged(tx, { base, key })
  const present = documentIds.length === 0 ? null : await readTag(tx, { base, key })
  if (present === null) throw tagNotFound(tag)
  return { ...present, documentIds }
}

function tagNotFound(tag: string): Refusal {
  return new Refusal('tag_not_found', { details: { id: cutText(tag, 200) } })
}

async function readTag(db: Queryable, { base, key }: { base: KnowledgeBaseKey; key: string }): Promise<TagRow | null> {
  return db.maybeOne(sql.type(TagRow)`
    ${countedTags(base)} AND t.key = ${key}`)
}

async function spell(
  tx: Transaction,
  { base, key, tag }: { base: KnowledgeBaseKey; key: string; tag: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE knowledge_base_tags SET tag = ${tag}
    WHERE workspace_id = ${base.workspaceId} AND knowledge_base_id = ${base.id} AND key = ${key}`)
}

// How many documents one statement changes.
const sliceDocuments = 500

type Replacement = { base: KnowledgeBaseKey; present: LockedTag; tags: string[]; keys: string[] }

async function replaceTag(context: Change, replacement: Replacement): Promise<void> {
  const { tx } = context
  const { base, present, keys } = replacement
  const { documentIds } = present
  for (let from = 0; from < documentIds.length; from += sliceDocuments) {
    const documents = await replaceInDocuments(context, {
      ...replacement,
      documentIds: documentIds.slice(from, from + sliceDocuments),
    })
    await recordEvents(tx, {
      workspaceId: base.workspaceId,
      name: 'document.metadata.updated',
      documents: documents.map(eventDocument),
    })
  }
  if (keys.includes(present.key)) return
  await tx.query(sql.unsafe`
    DELETE FROM knowledge_base_tags
    WHERE workspace_id = ${base.workspaceId} AND knowledge_base_id = ${base.id} AND key = ${present.key}`)
}

const IdRow = row(Type.Object({ id: Type.String() }))

function lockTagged(
  tx: Transaction,
  { base, key }: { base: KnowledgeBaseKey; key: string },
): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(IdRow)`
    SELECT d.id FROM document_filters f
    JOIN documents d ON d.workspace_id = f.workspace_id AND d.id = f.document_id
    WHERE f.workspace_id = ${base.workspaceId} AND f.filter = tag_filter(${key}) AND f.knowledge_base_id = ${base.id}
      AND d.knowledge_base_id = f.knowledge_base_id
    ORDER BY d.id FOR UPDATE OF d`)
}

// Puts the new tag into the place of the old tag. A document that has both keeps the new tag where it is.
function replaceInDocuments(
  { tx, caller }: Change,
  { base, present, tags, keys, documentIds }: Replacement & { documentIds: readonly string[] },
): Promise<readonly DocumentRow[]> {
  const others = sql.fragment`array_remove(d.tag_keys, ${present.key}) && ${sql.array(keys, 'text')}`
  const replaced = (column: 'tags' | 'tag_keys', values: string[]) => {
    const list = sql.identifier(['d', column])
    return sql.fragment`
      ${list}[:p.place - 1] || CASE WHEN ${others} THEN '{}' ELSE ${sql.array(values, 'text')} END || ${list}[p.place + 1:]`
  }
  return tx.any(sql.type(DocumentRow)`
    UPDATE documents AS d SET tags = ${replaced('tags', tags)}, tag_keys = ${replaced('tag_keys', keys)},
      updated_by = ${caller.userId}, updated_at = greatest(clock_timestamp(), d.updated_at)
    FROM (
      SELECT t.id, array_position(t.tag_keys, ${present.key}) AS place FROM documents t
      WHERE t.workspace_id = ${base.workspaceId} AND t.id = ANY(${sql.array([...documentIds], 'text')})
    ) AS p
    WHERE d.workspace_id = ${base.workspaceId} AND d.id = p.id
    RETURNING ${documentColumns}`)
}
