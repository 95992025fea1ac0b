import type { Config } from '../config.ts'
import type { Queryable } from '../database.ts'
import { usageOf } from './queries.ts'
import type { WorkspaceQuota } from './schema.ts'

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
      document_characters: config.QUOTA_DOCUMENT_CHARACTERS,
      translation_characters_per_day: config.TRANSLATION_DAILY_CHARACTERS,
    },
    // Nothing in the service translates yet, so no character has been.
    usage: { ...usage, translation_characters_today: 0 },
    translation_resets_at: nextUtcDay(Date.now()),
  }
}

const dayMs = 86_400_000

function nextUtcDay(now: number): number {
  return (Math.floor(now / dayMs) + 1) * dayMs
}
