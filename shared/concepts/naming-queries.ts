import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'
import { newId } from '../schema/ids.ts'
import { type NewLabel, normaliseName } from './names.ts'
import type { ConceptKey, ConceptRow } from './queries.ts'
import type { NamingOrigin } from './schema.ts'

/** A name that a concept claims in its knowledge base. `exceptId` is the concept that may have the name already. */
export type NameClaim = { workspaceId: string; knowledgeBaseId: number; normalizedName: string; exceptId?: string }

/**
 * Claims a name for an active concept: nobody else can claim the name until the transaction ends. Refuses with 409
 * `concept_name_conflict` when another active concept of the knowledge base has the name.
 */
export async function claimName(tx: Transaction, claim: NameClaim): Promise<void> {
  await lockName(tx, claim)
  const conceptId = await activeConceptNamed(tx, claim)
  if (conceptId !== null) throw new Refusal('concept_name_conflict', { details: { concept_id: conceptId } })
}

// Makes every other claim of the same name in the same knowledge base wait until the transaction ends.
async function lockName(tx: Transaction, claim: NameClaim): Promise<void> {
  const key = JSON.stringify(['concept name', claim.knowledgeBaseId, claim.normalizedName])
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
}

// Returns the id of the active concept that has the name, or null.
function activeConceptNamed(db: Queryable, claim: NameClaim): Promise<string | null> {
  return db.maybeOneFirst(sql.type(row(Type.Object({ id: Type.String() })))`
    SELECT id FROM concepts
    WHERE workspace_id = ${claim.workspaceId} AND knowledge_base_id = ${claim.knowledgeBaseId}
      AND status = 'active' AND md5(normalized_name) = md5(${claim.normalizedName})
      AND id IS DISTINCT FROM ${claim.exceptId ?? null}`)
}

/**
 * Adds aliases to a concept, in the order given. An alias whose normalised form the concept already has stays
 * unchanged. The caller has locked the row of the concept.
 */
export async function addAliases(
  tx: Transaction,
  concept: ConceptKey,
  input: { aliases: readonly string[]; origin: NamingOrigin },
): Promise<void> {
  await tx.query(sql.unsafe`${aliasInsert(concept, input)} DO NOTHING`)
}

/**
 * Replaces the manual aliases of a concept. Aliases that stay keep their ids; aliases of other origins are kept. The
 * caller has locked the row of the concept.
 */
export async function replaceManualAliases(
  tx: Transaction,
  concept: ConceptKey,
  aliases: readonly string[],
): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM concept_aliases
    WHERE workspace_id = ${concept.workspace_id} AND concept_id = ${concept.id} AND origin = 'manual'
      AND normalized_alias <> ALL(${sql.array(aliases.map(normaliseName), 'text')})`)
  await tx.query(sql.unsafe`
    ${aliasInsert(concept, { aliases, origin: 'manual' })} DO UPDATE
      SET alias = excluded.alias, ordinal = excluded.ordinal
      WHERE a.origin = 'manual' AND (a.alias, a.ordinal) IS DISTINCT FROM (excluded.alias, excluded.ordinal)`)
}

function aliasInsert(concept: ConceptKey, input: { aliases: readonly string[]; origin: NamingOrigin }) {
  const byForm = new Map<string, string>()
  for (const alias of input.aliases) {
    const form = normaliseName(alias)
    if (!byForm.has(form)) byForm.set(form, alias.trim())
  }
  const rows = [...byForm].map(([normalized_alias, alias], ordinal) => ({
    id: newId('alias'),
    alias,
    normalized_alias,
    ordinal,
  }))
  return sql.fragment`
    INSERT INTO concept_aliases AS a (workspace_id, id, concept_id, alias, normalized_alias, origin, ordinal)
    SELECT ${concept.workspace_id}, n.id, ${concept.id}, n.alias, n.normalized_alias, ${input.origin}, n.ordinal
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS n (id text, alias text, normalized_alias text, ordinal int)
    ON CONFLICT (workspace_id, concept_id, md5(normalized_alias))`
}

/**
 * Replaces the manual labels of a concept. A manual label replaces a label of another origin with the same locale. The
 * caller has locked the row of the concept.
 */
export async function replaceManualLabels(
  tx: Transaction,
  concept: ConceptKey,
  input: { labels: readonly NewLabel[]; createdBy: string },
): Promise<void> {
  const locales = input.labels.map(({ locale }) => locale)
  await tx.query(sql.unsafe`
    DELETE FROM concept_labels
    WHERE workspace_id = ${concept.workspace_id} AND concept_id = ${concept.id} AND origin = 'manual'
      AND locale <> ALL(${sql.array(locales, 'text')})`)
  await tx.query(sql.unsafe`
    INSERT INTO concept_labels AS l (workspace_id, concept_id, locale, name, description, origin, created_by)
    SELECT ${concept.workspace_id}, ${concept.id}, n.locale, n.name, n.description, 'manual', ${input.createdBy}
    FROM jsonb_to_recordset(${JSON.stringify(input.labels)}::jsonb) AS n (locale text, name text, description text)
    ON CONFLICT (workspace_id, concept_id, locale) DO UPDATE
      SET name = excluded.name, description = excluded.description, origin = 'manual', updated_at = clock_timestamp()
      WHERE (l.name, l.description, l.origin) IS DISTINCT FROM (excluded.name, excluded.description, 'manual')`)
}

const AliasRow = row(Type.Object({ alias: Type.String() }))

/**
 * Copies the names of a merged concept to the target. The name and aliases of the source become aliases of the target.
 * The source's labels are added for locales in which the target has no label.
 */
export async function copyNamings(tx: Transaction, source: ConceptRow, target: ConceptRow): Promise<void> {
  const aliases = await tx.anyFirst(sql.type(AliasRow)`
    SELECT alias FROM concept_aliases
    WHERE workspace_id = ${source.workspace_id} AND concept_id = ${source.id}
    ORDER BY origin <> 'manual', ordinal, id`)
  const fresh = [source.name, ...aliases].filter((alias) => normaliseName(alias) !== target.normalized_name)
  await addAliases(tx, target, { aliases: fresh, origin: 'merge' })
  await tx.query(sql.unsafe`
    INSERT INTO concept_labels (workspace_id, concept_id, locale, name, description, origin, created_by)
    SELECT workspace_id, ${target.id}, locale, name, description, 'merge', created_by FROM concept_labels
    WHERE workspace_id = ${source.workspace_id} AND concept_id = ${source.id}
    ON CONFLICT (workspace_id, concept_id, locale) DO NOTHING`)
}
