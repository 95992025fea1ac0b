import type { Route } from './route.ts'
import { attachmentRoutes } from './routes/attachments.ts'
import { batchRoutes } from './routes/batch.ts'
import { blockRoutes } from './routes/blocks.ts'
import { candidateRoutes } from './routes/candidates.ts'
import { changesRoutes } from './routes/changes.ts'
import { conceptRoutes } from './routes/concepts/routes.ts'
import { contentRoutes } from './routes/content.ts'
import { deviceRoutes } from './routes/device.ts'
import { documentRoutes } from './routes/documents.ts'
import { eventRoutes } from './routes/events.ts'
import { exportRoutes } from './routes/export.ts'
import { folderRoutes } from './routes/folders.ts'
import { knowledgeBaseRoutes } from './routes/knowledge-bases.ts'
import { localizationRoutes } from './routes/localization/routes.ts'
import { meRoutes } from './routes/me.ts'
import { readingRoutes } from './routes/reading.ts'
import { relationRoutes } from './routes/relations.ts'
import { searchRoutes } from './routes/search.ts'
import { sharingRoutes } from './routes/sharing.ts'
import { summaryRoutes } from './routes/summaries/routes.ts'
import { versionRoutes } from './routes/versions.ts'

/** The route table: every endpoint below `/api/v1`, in the order in which the description lists them. */
export const routes: readonly Route[] = [
  ...deviceRoutes,
  ...meRoutes,
  ...eventRoutes,
  ...searchRoutes,
  ...relationRoutes,
  ...conceptRoutes,
  ...candidateRoutes,
  ...summaryRoutes,
  ...knowledgeBaseRoutes,
  ...exportRoutes,
  ...folderRoutes,
  ...documentRoutes,
  ...sharingRoutes,
  ...contentRoutes,
  ...readingRoutes,
  ...versionRoutes,
  ...blockRoutes,
  ...batchRoutes,
  ...changesRoutes,
  ...localizationRoutes,
  ...attachmentRoutes,
]
