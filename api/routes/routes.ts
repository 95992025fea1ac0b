import type { Route } from '../http/route.ts'
import { attachmentRoutes } from './attachments.ts'
import { auditRoutes } from './audit.ts'
import { blockRoutes } from './body/blocks.ts'
import { changesRoutes } from './body/changes.ts'
import { contentRoutes } from './body/content.ts'
import { differenceRoutes } from './body/differences.ts'
import { readingRoutes } from './body/reading.ts'
import { textEditRoutes } from './body/text-edits.ts'
import { versionRoutes } from './body/versions.ts'
import { candidateRoutes } from './candidates.ts'
import { conceptRoutes } from './concepts.ts'
import { deviceRoutes } from './device.ts'
import { documentRoutes } from './documents/documents.ts'
import { duplicateRoutes } from './documents/duplicates.ts'
import { exportRoutes } from './documents/export.ts'
import { folderRoutes } from './documents/folders.ts'
import { knowledgeBaseRoutes } from './documents/knowledge-bases.ts'
import { severalRoutes } from './documents/several.ts'
import { sharingRoutes } from './documents/sharing.ts'
import { tagRoutes } from './documents/tags.ts'
import { eventRoutes } from './events.ts'
import { localizationRoutes } from './localization/routes.ts'
import { meRoutes } from './me.ts'
import { relationRoutes } from './relations.ts'
import { searchRoutes } from './search/search.ts'
import { summaryRoutes } from './summaries.ts'
import { tokenRoutes } from './tokens.ts'
import { trashRoutes } from './trash.ts'

/** The route table: every endpoint below `/api/v1`, in the order in which the description lists them. */
export const routes: readonly Route[] = [
  ...deviceRoutes,
  ...tokenRoutes,
  ...meRoutes,
  ...eventRoutes,
  ...searchRoutes,
  ...relationRoutes,
  ...conceptRoutes,
  ...candidateRoutes,
  ...summaryRoutes,
  ...knowledgeBaseRoutes,
  ...tagRoutes,
  ...exportRoutes,
  ...folderRoutes,
  ...documentRoutes,
  ...duplicateRoutes,
  ...severalRoutes,
  ...sharingRoutes,
  ...contentRoutes,
  ...textEditRoutes,
  ...readingRoutes,
  ...versionRoutes,
  ...differenceRoutes,
  ...blockRoutes,
  ...changesRoutes,
  ...localizationRoutes,
  ...attachmentRoutes,
  ...trashRoutes,
  ...auditRoutes,
]
