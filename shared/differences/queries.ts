import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import type { DocumentLocator } from '../documents/queries.ts'
import { Nullable } from '../schema/identifiers.ts'

/**
 * A body of a document: the current body, the newest kept version, or the kept version of a number. The number is given
 * by its digits, because a request may name a number that JavaScript cannot hold. No version has such a number.
 */
export type NamedBody = 'current' | 'newest' | { seq: string }

const ComparedShape = Type.Object({
  is_from: Type.Boolean(),
  seq: Nullable(Type.Number()),
  version: Nullable(Type.String()),
  body: Nullable(Type.String()),
})

/** A side of a comparison. `body` and `version` are null when the document does not keep the named version. */
export type ComparedBody = Static<typeof ComparedShape>

/**
 * Reads two bodies of a visible document in one statement, so that both are of the same moment. Returns two rows, or
 * none when the document is not visible.
 */
export function comparedBodies(
  db: Queryable,
  named: DocumentLocator & { from: NamedBody; to: NamedBody },
): Promise<readonly ComparedBody[]> {
  const side = (body: NamedBody) => sql.fragment`
    ${body === 'current'}::boolean, ${body === 'newest'}::boolean, ${seqOf(body)}::bigint`
  return db.any(
    prepared(sql.type(row(ComparedShape))`
    SELECT s.is_from, v.seq, b.version, b.body
    FROM document_directory i
    JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
    CROSS JOIN (VALUES (true, ${side(named.from)}), (false, ${side(named.to)}))
      AS s (is_from, is_current, is_newest, seq)
    LEFT JOIN document_versions v ON NOT s.is_current AND v.workspace_id = d.workspace_id AND v.document_id = d.id
      AND v.seq = CASE WHEN s.is_newest THEN d.version_seq ELSE s.seq END
    LEFT JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id
      AND b.body_seq = CASE WHEN s.is_current THEN d.body_seq ELSE v.body_seq END
    WHERE i.id = ${named.documentId} AND ${inWorkspaces(sql.fragment`i.workspace_id`, named.workspaceIds)}
    ORDER BY s.is_from DESC`),
  )
}

function seqOf(body: NamedBody): number | null {
  const seq = typeof body === 'object' ? Number(body.seq) : null
  return Number.isSafeInteger(seq) ? seq : null
}
