import type { Skipped } from './source.ts'

/** What is to be made of a source, before anything is: folders come after the folder they stand in. */
export type Plan = {
  /** The name of the knowledge base, when one is made for it. */
  name: string
  /** Tells whether an interrupted import was of the same source. */
  fingerprint: string
  folders: PlannedFolder[]
  documents: PlannedDocument[]
  /** What of the source is not imported. */
  skipped: Skipped[]
  /** What will be different afterwards, for the person who imports. */
  warnings: string[]
}

/** Keys name things within the source: ids of an export, or paths. */
export type PlannedFolder = { key: string; parent: string | null; name: string }

export type PlannedDocument = {
  key: string
  /** The id that it keeps when nobody has it; null for a new one. */
  id: string | null
  folder: string | null
  metadata: Record<string, unknown> & { title: string }
  /** Reads the body; it is not kept, so that memory does not grow with the source. */
  read: () => Promise<PlannedBody>
}

export type PlannedBody = {
  attachments: PlannedAttachment[]
  /** Whether it names documents or attachments, whose ids are known only when all of them exist. */
  refersToOthers: boolean
  /** The content input of the API with the ids that things have now. */
  content: (ids: NewIds) => unknown
}

export type PlannedAttachment = {
  key: string
  filename: string
  contentType: string
  read: () => Promise<Buffer>
}

/** Ids in the service by key; undefined for what is not there. */
export type NewIds = {
  document: (key: string) => string | undefined
  attachment: (key: string) => string | undefined
}
