import Type from 'typebox'
import { sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { ConceptRow } from './queries.ts'

/**
 * Makes everybody else who adds to the `broader_than` hierarchy of a knowledge base wait until the transaction ends:
 * two edges that only together close a cycle are thus never looked at side by side. To be taken after the rows of the
 * concepts, and looked for a cycle after it.
 */
export async function lockHierarchy(tx: Transaction, knowledgeBaseId: number): Promise<void> {
  const key = JSON.stringify(['concept hierarchy', knowledgeBaseId])
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
}

const Answer = row(Type.Object({ closes: Type.Boolean() }))

/** Whether `broader_than` from one concept to another would close a cycle; validity is ignored (decisions 2.10). */
export function edgeClosesCycle(
  tx: Transaction,
  edge: { workspaceId: string; from: string; to: string },
): Promise<boolean> {
  return tx.oneFirst(sql.type(Answer)`
    WITH RECURSIVE ${reachedFrom(edge.workspaceId, sql.fragment`SELECT ${edge.to}::text`)}
    SELECT EXISTS (SELECT FROM reached WHERE id = ${edge.from}) AS closes`)
}

/**
 * Whether making one of two concepts would close a cycle: it does when a way leads from one of them over a third back
 * to one of them. A direct edge between them does not count; it falls away.
 */
export function mergeClosesCycle(tx: Transaction, source: ConceptRow, target: ConceptRow): Promise<boolean> {
  const both = sql.array([source.id, target.id], 'text')
  const thirds = sql.fragment`
    SELECT object_id FROM concept_relations
    WHERE workspace_id = ${source.workspace_id} AND subject_concept_id = ANY(${both}) AND predicate = 'broader_than'
      AND object_id <> ALL(${both})`
  return tx.oneFirst(sql.type(Answer)`
    WITH RECURSIVE ${reachedFrom(source.workspace_id, thirds)}
    SELECT EXISTS (SELECT FROM reached WHERE id = ANY(${both})) AS closes`)
}

// Estimates of recursion are far too high; OFFSET makes the planner look up the narrower concepts of each one.
function reachedFrom(workspaceId: string, start: ReturnType<typeof sql.fragment>) {
  return sql.fragment`reached (id) AS (
    ${start}
    UNION
    SELECT narrower.object_id FROM reached
    CROSS JOIN LATERAL (
      SELECT r.object_id FROM concept_relations r
      WHERE r.workspace_id = ${workspaceId} AND r.subject_concept_id = reached.id AND r.predicate = 'broader_than'
      OFFSET 0
    ) AS narrower
  )`
}
