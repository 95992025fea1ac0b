import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { newId } from '../../schema/ids.ts'
import { type UnitStatus, unitStatuses } from '../schema.ts'

const UnitShape = Type.Object({
  id: Type.String(),
  source_block_id: Type.String(),
  source_hash: Type.String(),
  target_hash: Type.String(),
  machine_target: Nullable(Type.String()),
  status: Type.Enum([...unitStatuses]),
  reviewed_at: Nullable(Type.Number()),
  reviewed_by: Nullable(Type.String()),
  created_at: Type.Number(),
  updated_at: Type.Number(),
  block_ids: Type.Array(Type.String()),
})

/**
 * A unit of one translation (its target); `block_ids` are the blocks of the translation to which the unit is mapped, in
 * their order.
 */
export type UnitRow = Static<typeof UnitShape>

/** A place of a unit: its block in the source document and its blocks in the translation. */
export type UnitPlace = Pick<UnitRow, 'id' | 'source_block_id' | 'block_ids'>

/** A key that names the document of a translation. */
export type TargetKey = { workspaceId: string; targetId: string }

/*
 * A document may have tens of thousands of units. So lists of units pass between threads and the database as one JSON
 * text, which costs the event loop next to nothing.
 */

/**
 * A change of the texts of a source document. `gone` is the JSON text of the ids of the blocks whose text was deleted
 * or is blank now. `present` is the JSON text of the units of new or changed texts, as `newUnits` makes them. A member
 * is null when no block belongs to it.
 */
export type SourceChange = { gone: string | null; present: string | null }

/** A block with the hash of its text; '' stands for a text that is blank or deleted. */
export type TextHash = { block_id: string; hash: string }

/**
 * A text of a source document that has no units yet, with the ids of the units that it gets, one for each translation.
 */
type NewUnit = TextHash & { ids: string[] }

/**
 * Returns a new unit for each text of a source document in each of its translations. `putUnits` takes the units as JSON
 * text.
 */
export function newUnits(texts: readonly TextHash[], targets: number): NewUnit[] {
  return texts.map(({ block_id, hash }) => ({
    block_id,
    hash,
    ids: Array.from({ length: targets }, () => newId('tu')),
  }))
}

const blockIds = sql.fragment`
  coalesce((SELECT array_agg(b.block_id ORDER BY b.ordinal) FROM translation_unit_blocks b
    WHERE b.workspace_id = u.workspace_id AND b.unit_id = u.id), '{}') AS block_ids`

const columns = sql.fragment`
  u.id, u.source_block_id, u.source_hash, u.target_hash, u.machine_target, u.status,
  floor(extract(epoch FROM u.reviewed_at) * 1000)::int8 AS reviewed_at, u.reviewed_by,
  floor(extract(epoch FROM u.created_at) * 1000)::int8 AS created_at,
  floor(extract(epoch FROM u.updated_at) * 1000)::int8 AS updated_at, ${blockIds}`

const IdRow = row(Type.Object({ id: Type.String() }))
const StatusRow = row(Type.Object({ id: Type.String(), status: Type.Enum([...unitStatuses]) }))
const CountRow = row(Type.Object({ count: Type.Number() }))
const TextRow = row(Type.Object({ text: Type.String() }))

/**
 * Returns the units of a translation as the JSON text of a list of `UnitRow`, in no useful order. Some of the blocks to
 * which units are mapped may no longer be in the body.
 */
export function unitsOfTarget(db: Queryable, filter: TargetKey & { status?: string | undefined }): Promise<string> {
  const ofStatus = filter.status === undefined ? sql.fragment`true` : sql.fragment`u.status = ${filter.status}`
  return db.oneFirst(sql.type(TextRow)`
    SELECT coalesce(json_agg(unit), '[]')::text AS text FROM (
      SELECT ${columns} FROM translation_units u
      WHERE u.workspace_id = ${filter.workspaceId} AND u.target_document_id = ${filter.targetId} AND ${ofStatus}
      ORDER BY u.id
    ) AS unit`)
}

/**
 * Returns the units of a translation as the JSON text of a list of `UnitPlace`. The text stays the same when only
 * statuses, hashes and times change, so a result computed from it before the locks stays valid.
 */
export function unitPlacesOfTarget(db: Queryable, key: TargetKey): Promise<string> {
  return db.oneFirst(sql.type(TextRow)`
    SELECT coalesce(json_agg(unit), '[]')::text AS text FROM (
      SELECT u.id, u.source_block_id, ${blockIds} FROM translation_units u
      WHERE u.workspace_id = ${key.workspaceId} AND u.target_document_id = ${key.targetId} ORDER BY u.id
    ) AS unit`)
}

/** Returns the statuses of the given units of a translation, by id; unknown units are left out. */
export async function statusesOfUnits(
  db: Queryable,
  key: TargetKey & { unitIds: readonly string[] },
): Promise<ReadonlyMap<string, UnitStatus>> {
  const rows = await db.any(sql.type(StatusRow)`
    SELECT id, status FROM translation_units
    WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId}
      AND id = ANY(${sql.array([...key.unitIds], 'text')})`)
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Returns one unit of a target, or null. */
export function unitOfTarget(db: Queryable, key: TargetKey & { unitId: string }): Promise<UnitRow | null> {
  return db.maybeOne(sql.type(row(UnitShape))`
    SELECT ${columns} FROM translation_units u
    WHERE u.workspace_id = ${key.workspaceId} AND u.id = ${key.unitId} AND u.target_document_id = ${key.targetId}`)
}

/**
 * Locks units in id order. Every writer locks units in id order before it changes any of them, so that two writers
 * cannot deadlock.
 */
export async function lockUnits(tx: Transaction, key: TargetKey & { unitIds: readonly string[] }): Promise<void> {
  await tx.query(sql.unsafe`
    SELECT FROM translation_units
    WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId}
      AND id = ANY(${sql.array([...key.unitIds], 'text')})
    ORDER BY id FOR UPDATE`)
}

/** Records the source of new translations. */
export async function insertTargets(
  tx: Transaction,
  input: { workspaceId: string; sourceId: string; targetIds: readonly string[] },
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO translation_targets (workspace_id, target_document_id, source_document_id)
    SELECT ${input.workspaceId}, t.id, ${input.sourceId}
    FROM unnest(${sql.array([...input.targetIds], 'text')}) AS t (id)`)
}

/** A unit of a new translation, with the block that was copied from the unit's block of the source document. */
export type UnitCopy = { unit_id: string; block_id: string }

/**
 * Maps units of new translations to the blocks that were copied from the source document without their texts. For each
 * translation `mapped` is the JSON text of a list of `UnitCopy`.
 */
export async function mapCopies(
  tx: Transaction,
  input: { workspaceId: string; targetIds: readonly string[]; mapped: readonly string[] },
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO translation_unit_blocks (workspace_id, target_document_id, block_id, unit_id, ordinal, hash)
    SELECT ${input.workspaceId}, t.id, c.block_id, c.unit_id, 0, ''
    FROM unnest(${sql.array([...input.targetIds], 'text')}, ${sql.array([...input.mapped], 'text')}) AS t (id, mapped)
    CROSS JOIN LATERAL jsonb_to_recordset(t.mapped::jsonb) AS c (unit_id text, block_id text)`)
}

/**
 * Returns the ids of the translations of a source document, and locks their rows of `translation_targets`. So nobody
 * can delete the translations until the transaction ends.
 */
export function lockTargets(
  tx: Transaction,
  key: { workspaceId: string; sourceId: string },
): Promise<readonly string[]> {
  return tx.anyFirst(
    prepared(sql.type(IdRow)`
    SELECT target_document_id AS id FROM translation_targets
    WHERE workspace_id = ${key.workspaceId} AND source_document_id = ${key.sourceId}
    ORDER BY target_document_id FOR KEY SHARE`),
  )
}

/**
 * Updates the units of all given translations after a change of their source document. Deletes the units of texts that
 * are gone, stores the hashes of changed texts and inserts units for new texts. The caller is a body write, which has
 * locked the source document against every other write.
 */
export async function applySourceChange(
  tx: Transaction,
  input: { workspaceId: string; targetIds: readonly string[]; change: SourceChange },
): Promise<void> {
  const { workspaceId, change } = input
  const { gone, present } = change
  const targetIds = sql.array([...input.targetIds], 'text')
  await tx.query(sql.unsafe`
    WITH touched AS (
      SELECT block_id FROM jsonb_array_elements_text(${gone ?? '[]'}::jsonb) AS block_id
      UNION ALL
      SELECT block_id FROM jsonb_to_recordset(${present ?? '[]'}::jsonb) AS p (block_id text)
    ), locked AS (
      SELECT FROM translation_units
      WHERE workspace_id = ${workspaceId} AND target_document_id = ANY(${targetIds})
        AND source_block_id = ANY(ARRAY(SELECT block_id FROM touched))
      ORDER BY id FOR UPDATE
    )
    SELECT count(*) FROM locked`)
  if (gone !== null) {
    await tx.query(sql.unsafe`
      DELETE FROM translation_units
      WHERE workspace_id = ${workspaceId} AND target_document_id = ANY(${targetIds})
        AND source_block_id = ANY(ARRAY(SELECT jsonb_array_elements_text(${gone}::jsonb)))`)
  }
  if (present !== null) await putUnits(tx, { ...input, present })
}

/**
 * Inserts the units that are missing for texts of a source document, and stores in each existing unit the hash of its
 * source text. `present` is the JSON text that `newUnits` makes for the same number of translations.
 */
export async function putUnits(
  tx: Transaction,
  input: { workspaceId: string; targetIds: readonly string[]; present: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO translation_units AS u (workspace_id, id, target_document_id, source_block_id, source_hash)
    SELECT ${input.workspaceId}, p.ids ->> (t.number - 1)::int, t.id, p.block_id, p.hash
    FROM unnest(${sql.array([...input.targetIds], 'text')}) WITH ORDINALITY AS t (id, number)
    CROSS JOIN jsonb_to_recordset(${input.present}::jsonb) AS p (block_id text, hash text, ids jsonb)
    ON CONFLICT (workspace_id, target_document_id, source_block_id) DO UPDATE
      SET source_hash = excluded.source_hash, updated_at = clock_timestamp()
      WHERE u.source_hash <> excluded.source_hash`)
}

/** Locks the units of a target in id order. */
export async function lockUnitsOfTarget(tx: Transaction, key: TargetKey): Promise<void> {
  await tx.query(sql.unsafe`
    WITH locked AS (
      SELECT FROM translation_units
      WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId} ORDER BY id FOR UPDATE
    )
    SELECT count(*) FROM locked`)
}

/**
 * Deletes the units of a translation whose source text is not among the units of `present`, which is the JSON text that
 * `newUnits` makes.
 */
export async function dropUnitsExcept(tx: Transaction, key: TargetKey & { present: string }): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM translation_units
    WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId}
      AND NOT source_block_id = ANY(ARRAY(
        SELECT block_id FROM jsonb_to_recordset(${key.present}::jsonb) AS p (block_id text)))`)
}

/**
 * Stores the hashes of the changed texts of a translation, and updates the units that are mapped to the changed blocks.
 * `change` is the JSON text of a list of `TextHash`. Locks these units in id order first.
 */
export async function applyTargetChange(tx: Transaction, input: TargetKey & { change: string }): Promise<void> {
  const { workspaceId, targetId, change } = input
  const touched = sql.fragment`ARRAY(
    SELECT b.unit_id FROM translation_unit_blocks b
    WHERE b.workspace_id = ${workspaceId} AND b.target_document_id = ${targetId}
      AND b.block_id = ANY(ARRAY(SELECT block_id FROM jsonb_to_recordset(${change}::jsonb) AS c (block_id text))))`
  const locked = await tx.oneFirst(
    prepared(sql.type(CountRow)`
    WITH locked AS (
      SELECT FROM translation_units u
      WHERE u.workspace_id = ${workspaceId} AND u.id = ANY(${touched}) ORDER BY u.id FOR UPDATE
    )
    SELECT count(*) FROM locked`),
  )
  if (locked === 0) return
  await tx.query(
    prepared(sql.unsafe`
    UPDATE translation_unit_blocks b SET hash = c.hash
    FROM jsonb_to_recordset(${change}::jsonb) AS c (block_id text, hash text)
    WHERE b.workspace_id = ${workspaceId} AND b.target_document_id = ${targetId} AND b.block_id = c.block_id`),
  )
  await refreshTargetHashes(tx, { workspaceId, unitIds: touched, byHand: true })
}

/**
 * Stores the hashes of all texts of a translation, and updates its units. `texts` is the JSON text of a list of
 * `TextHash`; a block that is not in the list is gone. The caller has locked the units by `lockUnitsOfTarget`.
 */
export async function replaceTargetTexts(tx: Transaction, input: TargetKey & { texts: string }): Promise<void> {
  const { workspaceId, targetId, texts } = input
  await tx.query(sql.unsafe`
    UPDATE translation_unit_blocks b SET hash = n.hash
    FROM (
      SELECT o.unit_id, o.block_id, coalesce(c.hash, '') AS hash FROM translation_unit_blocks o
      LEFT JOIN jsonb_to_recordset(${texts}::jsonb) AS c (block_id text, hash text) ON c.block_id = o.block_id
      WHERE o.workspace_id = ${workspaceId} AND o.target_document_id = ${targetId}
    ) AS n
    WHERE b.workspace_id = ${workspaceId} AND b.target_document_id = ${targetId} AND b.unit_id = n.unit_id
      AND b.block_id = n.block_id AND b.hash <> n.hash`)
  const unitIds = sql.fragment`ARRAY(
    SELECT u.id FROM translation_units u WHERE u.workspace_id = ${workspaceId} AND u.target_document_id = ${targetId})`
  await refreshTargetHashes(tx, { workspaceId, unitIds, byHand: true })
}

/** A mapping of a unit to a block; `hash` is the hash of the text of the block, '' when the text is blank. */
export type Mapping = { unit_id: string; block_id: string; ordinal: number; hash: string }

/**
 * Replaces the blocks to which units are mapped, then updates the hashes of the units' texts. `mappings` is the JSON
 * text of a list of `Mapping`. A unit without an entry in `mappings` loses its blocks. The caller has locked the units
 * by `lockUnits` or `lockUnitsOfTarget`.
 */
export async function mapUnits(
  tx: Transaction,
  key: TargetKey & { unitIds: readonly string[]; mappings: string },
): Promise<void> {
  const { workspaceId, targetId, mappings } = key
  const unitIds = sql.fragment`${sql.array([...key.unitIds], 'text')}`
  await tx.query(sql.unsafe`
    DELETE FROM translation_unit_blocks WHERE workspace_id = ${workspaceId} AND unit_id = ANY(${unitIds})`)
  await tx.query(sql.unsafe`
    INSERT INTO translation_unit_blocks (workspace_id, target_document_id, block_id, unit_id, ordinal, hash)
    SELECT ${workspaceId}, ${targetId}, m.block_id, m.unit_id, m.ordinal, m.hash
    FROM jsonb_to_recordset(${mappings}::jsonb) AS m (block_id text, unit_id text, ordinal integer, hash text)`)
  await refreshTargetHashes(tx, { workspaceId, unitIds, byHand: false })
}

// Computes the hash of each unit's target text from its blocks. `unitIds` is an SQL array, and `byHand` says that a
// person wrote the text. The first text that a person writes for a unit counts as a translation of the current source
// text.
async function refreshTargetHashes(
  tx: Transaction,
  input: { workspaceId: string; unitIds: ReturnType<typeof sql.fragment>; byHand: boolean },
): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    UPDATE translation_units u SET target_hash = t.hash, updated_at = clock_timestamp(),
      base_source = CASE WHEN ${input.byHand}::boolean AND u.base_kind IS NULL AND u.base_source IS NULL AND t.hash <> ''
        THEN u.source_hash ELSE u.base_source END
    FROM (
      SELECT w.id, coalesce(string_agg(b.hash, ' ' ORDER BY b.ordinal) FILTER (WHERE b.hash <> ''), '') AS hash
      FROM unnest(${input.unitIds}) AS w (id)
      LEFT JOIN translation_unit_blocks b ON b.workspace_id = ${input.workspaceId} AND b.unit_id = w.id
      GROUP BY w.id
    ) AS t
    WHERE u.workspace_id = ${input.workspaceId} AND u.id = t.id AND u.target_hash <> t.hash`),
  )
}

/**
 * Records a person's review of a unit that the caller has locked by `lockUnits`. The review `current` confirms both
 * texts as they are now.
 */
export async function recordReview(
  tx: Transaction,
  review: { workspaceId: string; unitId: string; status: 'current' | 'ignored'; userId: string },
): Promise<void> {
  const facts =
    review.status === 'ignored'
      ? sql.fragment`ignored = true`
      : sql.fragment`ignored = false, base_source = source_hash, base_target = target_hash, base_kind = 'confirmed'`
  await tx.query(sql.unsafe`
    UPDATE translation_units SET ${facts}, reviewed_by = ${review.userId}, reviewed_at = clock_timestamp(),
      updated_at = clock_timestamp()
    WHERE workspace_id = ${review.workspaceId} AND id = ${review.unitId}`)
}

/**
 * Records that a machine translated the texts of units from their current source texts. The caller has locked the units
 * by `lockUnits`.
 */
export async function recordMachineTexts(
  tx: Transaction,
  input: { workspaceId: string; unitIds: readonly string[] },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE translation_units SET base_source = source_hash, base_target = target_hash, base_kind = 'machine',
      machine_target = target_hash, updated_at = clock_timestamp()
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.unitIds], 'text')})`)
}

/** Tells whether a translation has a unit that is missing, outdated or in conflict. */
export function hasOpenUnits(db: Queryable, key: TargetKey): Promise<boolean> {
  return db.oneFirst(sql.type(row(Type.Object({ open: Type.Boolean() })))`
    SELECT EXISTS (
      SELECT FROM translation_units
      WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId}
        AND status IN ('missing', 'source_changed', 'conflict')) AS open`)
}

/**
 * Records the version of the source document from which a translation was translated. The caller has locked both
 * documents by `lockPair`.
 */
export async function setTranslatedFrom(tx: Transaction, key: TargetKey & { version: string }): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE documents SET translated_from_version = ${key.version}
    WHERE workspace_id = ${key.workspaceId} AND id = ${key.targetId}`)
}
