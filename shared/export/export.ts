import type { KnowledgeBaseRow } from '../knowledge-bases/queries.ts'
import type { ExportContext } from './context.ts'
import { writeDocuments } from './documents.ts'
import { manifest } from './manifest.ts'
import { readPaths } from './paths-of.ts'

/**
 * Writes a knowledge base into an archive in the layout of decisions 4.7, at a memory that does not depend on how many
 * documents there are. The manifest comes last, since only then is known which files could be read.
 */
export async function writeExport(context: ExportContext, knowledgeBase: KnowledgeBaseRow): Promise<void> {
  const exportedAt = Date.now()
  const paths = await readPaths(context.snapshot, { workspaceId: knowledgeBase.workspace_id, id: knowledgeBase.id })
  const unreadable = new Set<string>()
  await writeDocuments({ ...context, paths, unreadable }, knowledgeBase)
  const text = manifest({ ...context, paths, unreadable }, { knowledgeBase, exportedAt })
  await context.archive.add('manifest.json', text, { modified: new Date(exportedAt) })
  context.archive.end()
}
