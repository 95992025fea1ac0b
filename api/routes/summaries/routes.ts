import type { Route } from '../../http/route.ts'
import { summaryTargetKinds } from '../summaries.ts'
import { getSummaryJob } from './jobs.ts'
import { getSummary } from './read.ts'
import { rebuildSummary } from './rebuild.ts'
import { putSummary } from './save.ts'

/** Summaries of documents, sections, folders and knowledge bases, and their jobs (specification 4.6). */
export const summaryRoutes: readonly Route[] = [
  ...summaryTargetKinds.flatMap((kind) => [getSummary(kind), putSummary(kind), rebuildSummary(kind)]),
  getSummaryJob,
]
