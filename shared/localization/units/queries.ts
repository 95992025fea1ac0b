import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { newId } from '../../schema/ids.ts'
import { unitStatuses } from '../schema.ts'

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

/** A unit of one target; `block_ids` are the blocks of the target to which the unit is mapped, in their order. */
export type UnitRow = Static<typeof UnitShape>

/** The document of a translation. */
export type TargetKey = { workspaceId: string; targetId: string }

/** The block ids of source texts that are deleted or blank now, and the blocks with new or changed texts. */
export type SourceChange = { gone: string[]; present: { block_id: string; hash: string }[] }

/** The changed blocks of a target with the hashes of their texts; '' stands for a block that is blank or deleted. */
export type TargetChange = { block_id: string; hash: string }[]

const columns = sql.fragment`
  u.id, u.source_block_id, u.source_hash, u.target_hash, u.machine_target, u.status, u.reviewed_at,
  u.reviewed_by, u.created_at, u.updated_at,
  coalesce((SELECT array_agg(b.block_id ORDER BY b.ordinal) FROM translation_unit_blocks b
    WHERE b.workspace_id = u.workspace_id AND b.unit_id = u.id), '{}') AS block_ids`

/** Returns the units of a target, in no order. Some of their mapped blocks may have left the body. */
export function unitsOfTarget(
  db: Queryable,
  filter: TargetKey & { status?: string | undefined },
): Promise<readonly UnitRow[]> {
  const ofStatus = filter.status === undefined ? sql.fragment`true` : sql.fragment`u.status = ${filter.status}`
  return db.any(sql.type(row(UnitShape))`
    SELECT ${columns} FROM translation_units u
    WHERE u.workspace_id = ${filter.workspaceId} AND u.target_document_id = ${filter.targetId} AND ${ofStatus}`)
}

/** Returns one unit of a target, or null. */
export function unitOfTarget(db: Queryable, key: TargetKey & { unitId: string }): Promise<UnitRow | null> {
  return db.maybeOne(sql.type(row(UnitShape))`
    SELECT ${columns} FROM translation_units u
    WHERE u.workspace_id = ${key.workspaceId} AND u.id = ${key.unitId} AND u.target_document_id = ${key.targetId}`)
}

/** Locks units in id order. Every writer of units calls this function before it changes them. */
export async function lockUnits(tx: Transaction, key: TargetKey & { unitIds: readonly string[] }): Promise<void> {
  await tx.query(sql.unsafe`
    SELECT FROM translation_units
    WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId}
      AND id = ANY(${sql.array([...key.unitIds], 'text')})
    ORDER BY id FOR UPDATE`)
}

const IdRow = row(Type.Object({ id: Type.String() }))

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

const SourcedShape = Type.Object({ id: Type.String(), target_id: Type.String(), source_block_id: Type.String() })

/** Returns the source block of each unit of the targets. */
export function sourcedUnits(
  db: Queryable,
  input: { workspaceId: string; targetIds: readonly string[] },
): Promise<readonly Static<typeof SourcedShape>[]> {
  return db.any(sql.type(row(SourcedShape))`
    SELECT id, target_document_id AS target_id, source_block_id FROM translation_units
    WHERE workspace_id = ${input.workspaceId}
      AND target_document_id = ANY(${sql.array([...input.targetIds], 'text')})`)
}

/** Maps units of new targets to the blocks that were copied from the source without their texts. */
export async function mapCopies(
  tx: Transaction,
  input: { workspaceId: string; copies: readonly { unitId: string; targetId: string; blockId: string }[] },
): Promise<void> {
  const column = (name: 'unitId' | 'targetId' | 'blockId') =>
    sql.array(
      input.copies.map((copy) => copy[name]),
      'text',
    )
  await tx.query(sql.unsafe`
    INSERT INTO translation_unit_blocks (workspace_id, target_document_id, block_id, unit_id, ordinal, hash)
    SELECT ${input.workspaceId}, c.target, c.block, c.unit, 0, ''
    FROM unnest(${column('targetId')}, ${column('blockId')}, ${column('unitId')}) AS c (target, block, unit)`)
}

/** Returns the translations of a source. Nobody can delete them until the transaction ends. */
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
 * Brings the units of several targets in line with a change of their source. Deletes the units of texts that are gone,
 * stores the hashes of changed texts and inserts units for new texts. The caller has locked the source against every
 * other write.
 */
export async function applySourceChange(
  tx: Transaction,
  input: { workspaceId: string; targetIds: readonly string[]; change: SourceChange },
): Promise<void> {
  const { workspaceId, change } = input
  const targetIds = sql.array([...input.targetIds], 'text')
  const touched = [...change.gone, ...change.present.map(({ block_id }) => block_id)]
  await tx.query(sql.unsafe`
    SELECT FROM translation_units
    WHERE workspace_id = ${workspaceId} AND target_document_id = ANY(${targetIds})
      AND source_block_id = ANY(${sql.array(touched, 'text')})
    ORDER BY id FOR UPDATE`)
  if (change.gone.length > 0) {
    await tx.query(sql.unsafe`
      DELETE FROM translation_units
      WHERE workspace_id = ${workspaceId} AND target_document_id = ANY(${targetIds})
        AND source_block_id = ANY(${sql.array(change.gone, 'text')})`)
  }
  if (change.present.length > 0) await putUnits(tx, input)
}

/**
 * Inserts the units that are missing for these source texts, and stores in each existing unit the hash of its source
 * text.
 */
export async function putUnits(
  tx: Transaction,
  input: { workspaceId: string; targetIds: readonly string[]; change: Pick<SourceChange, 'present'> },
): Promise<void> {
  const units = input.targetIds.flatMap((target) =>
    input.change.present.map(({ block_id, hash }) => [newId('tu'), target, block_id, hash] as const),
  )
  const column = (index: 0 | 1 | 2 | 3) =>
    sql.array(
      units.map((unit) => unit[index]),
      'text',
    )
  await tx.query(sql.unsafe`
    INSERT INTO translation_units AS u (workspace_id, id, target_document_id, source_block_id, source_hash)
    SELECT ${input.workspaceId}, n.id, n.target, n.block, n.hash
    FROM unnest(${column(0)}, ${column(1)}, ${column(2)}, ${column(3)}) AS n (id, target, block, hash)
    ON CONFLICT (workspace_id, target_document_id, source_block_id) DO UPDATE
      SET source_hash = excluded.source_hash, updated_at = clock_timestamp()
      WHERE u.source_hash <> excluded.source_hash`)
}

/** Deletes the units of a target whose source block is not among the given blocks. */
export async function dropUnitsExcept(
  tx: Transaction,
  key: TargetKey & { blockIds: readonly string[] },
): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM translation_units
    WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId}
      AND source_block_id <> ALL(${sql.array([...key.blockIds], 'text')})`)
}

/** Locks the units that are mapped to one of these blocks of a target, in id order, and returns their ids. */
export function lockUnitsOfBlocks(
  tx: Transaction,
  key: TargetKey & { blockIds: readonly string[] },
): Promise<readonly string[]> {
  return tx.anyFirst(
    prepared(sql.type(IdRow)`
    SELECT u.id FROM translation_units u
    WHERE u.workspace_id = ${key.workspaceId} AND u.id = ANY(ARRAY(
      SELECT b.unit_id FROM translation_unit_blocks b
      WHERE b.workspace_id = ${key.workspaceId} AND b.target_document_id = ${key.targetId}
        AND b.block_id = ANY(${sql.array([...key.blockIds], 'text')})))
    ORDER BY u.id FOR UPDATE`),
  )
}

/** Stores the hashes of the changed texts of mapped blocks. */
export async function setBlockHashes(tx: Transaction, key: TargetKey & { change: TargetChange }): Promise<void> {
  const ids = key.change.map(({ block_id }) => block_id)
  const hashes = key.change.map(({ hash }) => hash)
  await tx.query(
    prepared(sql.unsafe`
    UPDATE translation_unit_blocks b SET hash = c.hash
    FROM unnest(${sql.array(ids, 'text')}, ${sql.array(hashes, 'text')}) AS c (block_id, hash)
    WHERE b.workspace_id = ${key.workspaceId} AND b.target_document_id = ${key.targetId} AND b.block_id = c.block_id`),
  )
}

/** A block to which a unit is mapped; `hash` is the hash of the text of the block, '' when the text is blank. */
export type Mapping = { unit_id: string; block_id: string; ordinal: number; hash: string }

/**
 * Replaces the mapped blocks of locked units, then refreshes the hashes of their texts. A unit without an entry in
 * `mappings` loses its blocks.
 */
export async function mapUnits(
  tx: Transaction,
  key: TargetKey & { unitIds: readonly string[]; mappings: readonly Mapping[] },
): Promise<void> {
  await replaceMappings(tx, key)
  await refreshTargetHashes(tx, { ...key, byHand: false })
}

async function replaceMappings(
  tx: Transaction,
  key: TargetKey & { unitIds: readonly string[]; mappings: readonly Mapping[] },
): Promise<void> {
  const { workspaceId, targetId, mappings } = key
  await tx.query(sql.unsafe`
    DELETE FROM translation_unit_blocks
    WHERE workspace_id = ${workspaceId} AND unit_id = ANY(${sql.array([...key.unitIds], 'text')})`)
  if (mappings.length === 0) return
  await tx.query(sql.unsafe`
    INSERT INTO translation_unit_blocks (workspace_id, target_document_id, block_id, unit_id, ordinal, hash)
    SELECT ${workspaceId}, ${targetId}, m.block_id, m.unit_id, m.ordinal, m.hash
    FROM jsonb_to_recordset(${JSON.stringify(mappings)}::jsonb)
      AS m (block_id text, unit_id text, ordinal integer, hash text)`)
}

/**
 * Computes the hash of each unit's target text from its blocks. `byHand` says that a person wrote the text. The first
 * text that a person writes for a unit counts as a translation of the current source.
 */
export async function refreshTargetHashes(
  tx: Transaction,
  input: { workspaceId: string; unitIds: readonly string[]; byHand: boolean },
): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    UPDATE translation_units u SET target_hash = t.hash, updated_at = clock_timestamp(),
      base_source = CASE WHEN ${input.byHand}::boolean AND u.base_kind IS NULL AND u.base_source IS NULL AND t.hash <> ''
        THEN u.source_hash ELSE u.base_source END
    FROM (
      SELECT w.id, coalesce(string_agg(b.hash, ' ' ORDER BY b.ordinal) FILTER (WHERE b.hash <> ''), '') AS hash
      FROM unnest(${sql.array([...input.unitIds], 'text')}) AS w (id)
      LEFT JOIN translation_unit_blocks b ON b.workspace_id = ${input.workspaceId} AND b.unit_id = w.id
      GROUP BY w.id
    ) AS t
    WHERE u.workspace_id = ${input.workspaceId} AND u.id = t.id AND u.target_hash <> t.hash`),
  )
}

/** Records a person's review of a locked unit; `current` confirms both texts as they are now. */
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

/** Records that a machine translated the texts of locked units from their current sources. */
export async function recordMachineTexts(
  tx: Transaction,
  input: { workspaceId: string; unitIds: readonly string[] },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE translation_units SET base_source = source_hash, base_target = target_hash, base_kind = 'machine',
      machine_target = target_hash, updated_at = clock_timestamp()
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.unitIds], 'text')})`)
}

/** Tells whether a target has a unit that is missing, outdated or in conflict. */
export function hasOpenUnits(db: Queryable, key: TargetKey): Promise<boolean> {
  return db.oneFirst(sql.type(row(Type.Object({ open: Type.Boolean() })))`
    SELECT EXISTS (
      SELECT FROM translation_units
      WHERE workspace_id = ${key.workspaceId} AND target_document_id = ${key.targetId}
        AND status IN ('missing', 'source_changed', 'conflict')) AS open`)
}

/** Records the version of the source from which a locked translation was translated. */
export async function setTranslatedFrom(tx: Transaction, key: TargetKey & { version: string }): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE documents SET translated_from_version = ${key.version}
    WHERE workspace_id = ${key.workspaceId} AND id = ${key.targetId}`)
}
