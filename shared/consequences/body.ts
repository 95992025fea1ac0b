import { updateReferences } from '../body/attachment-references.ts'
import type { BodyConsequence } from '../body/consequence.ts'
import { notifyLiveEditors } from '../body/live/notifications.ts'
import { staleAfterWrite } from '../jobs/projections/stale.ts'
import { endJobsOfChangedBody } from '../jobs/requested/obsolete.ts'
import { syncUnits } from '../localization/units/sync.ts'

/**
 * What follows from every write that changes a body, in this order, inside the transaction of the write. `commitBody`
 * calls the list after it has stored the body, its manifest, the snapshot of the state before and the event.
 *
 * The order is also the order of locks. A write locks its document before all consequences. A write that creates or
 * moves a document locks the location even before the document. Each consequence locks rows of its own table, in the
 * order of their keys. The rows of jobs come last, because writers of the same job wait for each other from there on.
 */
export const bodyConsequences: readonly BodyConsequence[] = [
  // attachment_references: which attachments the body shows.
  updateReferences,
  // translation_units: the units of a source or of a translation.
  syncUnits,
  // A notification to processes that have the document open; it locks nothing before the commit.
  notifyLiveEditors,
  // summary_jobs, translation_jobs: open jobs that people asked for and whose source the write changes end as obsolete.
  endJobsOfChangedBody,
  // stale_projections, then the jobs of pg-boss: projections are marked as stale, and their jobs are enqueued.
  staleAfterWrite,
]
