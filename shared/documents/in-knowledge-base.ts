import { sql } from '../database/database.ts'

type Fragment = ReturnType<typeof sql.fragment>

/**
 * The condition that a row belongs to a document of a knowledge base; `workspaceId` and `documentId` are columns of the
 * row. The planner expects that a boolean expression is true of every second row. So it reads a list in the order of
 * the list, and looks up the knowledge base of each row, until the page is full.
 */
export function inKnowledgeBase(row: {
  workspaceId: Fragment
  documentId: Fragment
  knowledgeBaseId: number
}): Fragment {
  return sql.fragment`coalesce((
    SELECT d.knowledge_base_id = ${row.knowledgeBaseId} FROM documents d
    WHERE d.workspace_id = ${row.workspaceId} AND d.id = ${row.documentId}), false)`
}

/**
 * The condition that `workspace.id` is the workspace of a knowledge base, for `isRead` of `mergedPage`. Without a
 * knowledge base all workspaces are read.
 */
export function workspaceOfBase(knowledgeBaseId: number | undefined): Fragment {
  if (knowledgeBaseId === undefined) return sql.fragment`true`
  return sql.fragment`
    workspace.id = (SELECT workspace_id FROM knowledge_base_directory WHERE id = ${knowledgeBaseId})`
}
