import Type, { type Static } from 'typebox'
import { sql } from '../../database/database.ts'
import type { PathEntry } from '../../documents/schema.ts'
import { Nullable } from '../../schema/identifiers.ts'

/** The knowledge bases and folders above all hits of a search. */
export const PlaceShape = {
  knowledge_bases: Type.Array(Type.Object({ id: Type.Number(), name: Type.String() })),
  folders: Type.Array(Type.Object({ id: Type.Number(), name: Type.String(), parent_id: Nullable(Type.Number()) })),
}

/**
 * Columns of the knowledge bases and folders above the `hits`, each of them once: to walk up from each hit by itself took
 * a fifth of the search for a rare word. Looked up one by one, since the planner does not know how few they are.
 */
export const places = sql.fragment`
  coalesce((
    SELECT json_agg(k) FROM (SELECT DISTINCT h.workspace_id, h.knowledge_base_id FROM hits h) AS h
    CROSS JOIN LATERAL (
      SELECT k.id, k.name FROM knowledge_bases k
      WHERE k.workspace_id = h.workspace_id AND k.id = h.knowledge_base_id LIMIT 1) AS k
  ), '[]') AS knowledge_bases,
  coalesce((
    WITH RECURSIVE above AS (
      SELECT h.workspace_id, f.* FROM (SELECT DISTINCT h.workspace_id, h.folder_id FROM hits h) AS h
      CROSS JOIN LATERAL (
        SELECT f.id, f.name, f.parent_id FROM folders f
        WHERE f.workspace_id = h.workspace_id AND f.id = h.folder_id LIMIT 1) AS f
      UNION
      SELECT a.workspace_id, f.* FROM above a
      CROSS JOIN LATERAL (
        SELECT f.id, f.name, f.parent_id FROM folders f
        WHERE f.workspace_id = a.workspace_id AND f.id = a.parent_id LIMIT 1) AS f
    )
    SELECT json_agg(json_build_object('id', a.id, 'name', a.name, 'parent_id', a.parent_id)) FROM above a
  ), '[]') AS folders`

const Places = Type.Object(PlaceShape)

/** Makes a function that tells where a hit is: its knowledge base, the folders from the root down, itself. */
export function pathsIn(
  places: Static<typeof Places>,
): (hit: { document_id: string; title: string; knowledge_base_id: number; folder_id: number | null }) => PathEntry[] {
  const bases = new Map(places.knowledge_bases.map((base) => [base.id, base]))
  const folders = new Map(places.folders.map((folder) => [folder.id, folder]))
  return ({ document_id, title, knowledge_base_id, folder_id }) => {
    const path: PathEntry[] = [{ id: document_id, name: title, type: 'document' }]
    for (let folder = folders.get(folder_id ?? 0); folder; folder = folders.get(folder.parent_id ?? 0)) {
      path.unshift({ id: folder.id, name: folder.name, type: 'folder' })
    }
    const base = bases.get(knowledge_base_id)
    if (base) path.unshift({ id: base.id, name: base.name, type: 'knowledge_base' })
    return path
  }
}
