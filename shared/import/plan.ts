import type { components } from '../client/client.ts'
import type { Skipped } from './source.ts'

/** Everything that an import will make, known before it makes anything. A folder comes after its parent. */
export type Plan = {
  /** The name of the new knowledge base, unless the import goes into an existing knowledge base. */
  name: string
  /** A digest of the source, by which an interrupted import of the same source is recognised. */
  fingerprint: string
  folders: PlannedFolder[]
  documents: PlannedDocument[]
  /** The files and folders of the source that are not imported. */
  skipped: Skipped[]
  /** The relative addresses that lead to no file of the source, with the files in which they are. */
  deadLinks: { name: string; address: string }[]
  /** Differences between the source and the import, in words for the person who imports. */
  warnings: string[]
}

/** A document as `POST /documents` takes it. */
export type DocumentInput = components['schemas']['DocumentCreateInput']

/** The metadata of a new document: everything but its id, its location and its body. */
export type PlannedMetadata = Omit<DocumentInput, 'id' | 'knowledge_base_id' | 'folder_id' | 'content'>

/** A body as the API takes it: Tiptap JSON or Markdown. */
export type PlannedContent = components['schemas']['ContentInput']

/** A folder of the plan. Keys name things within the source: they are ids of an export, or paths. */
export type PlannedFolder = { key: string; parent: string | null; name: string }

/** A document of the plan. */
export type PlannedDocument = {
  key: string
  /** The id of the document in the source, which it keeps if that id is free; null for a new id. */
  id: string | null
  folder: string | null
  metadata: PlannedMetadata
  /** Reads the body. Bodies are not kept, so that memory does not grow with the source. */
  read: () => Promise<PlannedBody>
}

/** The body of a document of the plan, with the files that the body shows. */
export type PlannedBody = {
  attachments: PlannedAttachment[]
  /** Whether the body names documents or attachments, whose ids are known only when all of them exist. */
  refersToOthers: boolean
  /** The body as the API takes it, with the ids that documents and attachments have in the service. */
  content: (ids: NewIds) => PlannedContent
}

/** A file of the plan that becomes an attachment of its document. */
export type PlannedAttachment = {
  key: string
  filename: string
  contentType: string
  read: () => Promise<Buffer>
}

/**
 * Functions from the key of a thing in the source to its id in the service. Each function returns undefined while the
 * service does not have the thing.
 */
export type NewIds = {
  document: (key: string) => string | undefined
  attachment: (key: string) => string | undefined
}
