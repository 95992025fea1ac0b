import Type, { type Static } from 'typebox'
import { Time } from '../schema/identifiers.ts'

const count = Type.Integer({ minimum: 0 })

/** The limits and the usage of a workspace: api/guide/limits.md#quotas. */
export const WorkspaceQuota = Type.Object(
  {
    workspace_id: Type.String(),
    limits: Type.Object({
      knowledge_bases: count,
      documents: count,
      folders: count,
      attachment_bytes: Type.Integer({ minimum: 0, description: 'of all attachments together' }),
      document_characters: Type.Integer({ minimum: 0, description: 'per document' }),
      translation_characters_per_day: Type.Integer({ minimum: 0, description: 'source characters per UTC day' }),
    }),
    usage: Type.Object({
      knowledge_bases: count,
      documents: count,
      folders: count,
      attachment_bytes: count,
      translation_characters_today: count,
    }),
    translation_resets_at: Time,
  },
  { $id: 'WorkspaceQuota', description: 'What the default workspace may hold, and what it holds' },
)
export type WorkspaceQuota = Static<typeof WorkspaceQuota>
