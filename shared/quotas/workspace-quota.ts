import type { Config } from '../config/config.ts'
import type { Queryable } from '../database/database.ts'
import { usageOf } from './queries.ts'
import type { WorkspaceQuota } from './schema.ts'
import { nextUtcDay, translationCharactersToday } from './translation.ts'

/** Limits and usage of one workspace, as `GET /me/quota` answers (decisions 4.1). */
export async function workspaceQuota(
  context: { db: Queryable; config: Config },
  workspaceId: string,
): Promise<WorkspaceQuota> {
  const { config } = context
  const usage = await usageOf(context.db, workspaceId)
  return {
    workspace_id: workspaceId,
    limits: {
      knowledge_bases: config.QUOTA_KNOWLEDGE_BASES,
      documents: config.QUOTA_DOCUMENTS,
      folders: config.QUOTA_FOLDERS,
      attachment_bytes: config.QUOTA_ATTACHMENT_BYTES,
      document_characters: config.QUOTA_DOCUMENT_CHARACTERS,
      translation_characters_per_day: config.TRANSLATION_DAILY_CHARACTERS,
    },
    usage: { ...usage, translation_characters_today: await translationCharactersToday(context.db, workspaceId) },
    translation_resets_at: nextUtcDay(Date.now()),
  }
}
