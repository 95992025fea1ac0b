import type { EventDocument } from '../events/record.ts'
import type { DocumentRow } from './queries.ts'
import type { Document } from './schema.ts'

/** A row as the API returns it (decisions 2.3); how fresh it is as a translation, the localization noun knows. */
export function presentDocument(row: DocumentRow, freshness: Document['translation_freshness']): Document {
  const { body_seq: _seq, version_seq: _versions, node_count: _nodes, ...members } = row
  return {
    ...members,
    uri: `svc://doc/${row.id}`,
    document_set_uri: row.document_set_id === null ? null : `svc://docset/${row.document_set_id}`,
    translation_freshness: freshness,
  }
}

/** A row as its events show it (decisions 6). */
export function eventDocument(row: DocumentRow): EventDocument {
  return {
    id: row.id,
    title: row.title,
    document_type: row.document_type,
    knowledge_base_id: row.knowledge_base_id,
    folder_id: row.folder_id,
    document_set_id: row.document_set_id,
    locale: row.locale,
    variant_role: row.variant_role,
    version: row.version,
    updated_at: row.updated_at,
  }
}
