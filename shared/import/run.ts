import pLimit from 'p-limit'
import type { Plan, PlannedAttachment, PlannedDocument } from './plan.ts'
import type { Progress } from './progress.ts'
import type { ServiceClient } from './service-client.ts'
import { type SkipReason, SourceError } from './source.ts'
import type { ImportState } from './state.ts'
import { Refused, Steps } from './steps.ts'

/** What an import has come to. */
export type ImportResult = {
  knowledge_base_id: number
  folders: number
  documents: number
  attachments: number
  /** Documents that have another id than in the source, since that one was used before. */
  renamed: number
  /** How many files and folders of the source were skipped, by reason. */
  skipped: Partial<Record<SkipReason, number>>
  /** What the service refused or the source did not give; the rest was imported. */
  failed: Failure[]
}

type Failure = { name: string; reason: string }

/** What an import works with. */
export type ImportContext = { plan: Plan; client: ServiceClient; state: ImportState; progress: Progress }

/**
 * Does what a plan says, through the API: the knowledge base and its folders, then every document, then the files, then
 * the bodies that name documents or files, whose ids are known only by then. What the state has is not done again.
 */
export async function runImport(context: ImportContext): Promise<ImportResult> {
  const { plan, state, progress } = context
  const steps = new Steps(context)
  const failed: Failure[] = []
  const each = lanes({ progress, failed })
  if (state.knowledgeBase === null) await steps.makeKnowledgeBase(plan.name)
  const knowledgeBase = Number(state.knowledgeBase)
  await makeFolders({ ...context, steps, knowledgeBase })

  const files: Owned[] = []
  await each('documents', plan.documents, async (planned) => {
    const body = await planned.read()
    if (!state.documents.has(planned.key)) await steps.makeDocument(planned, { body, knowledgeBase })
    files.push(...body.attachments.map((attachment) => ({ key: attachment.key, attachment, owner: planned.key })))
  })
  await each('files', files, async ({ attachment, owner }) => {
    const document = state.documents.get(owner)
    if (document === undefined || state.attachments.has(attachment.key)) return
    await steps.upload(attachment, document.id)
  })
  const empty = plan.documents.filter(({ key }) => state.documents.get(key)?.written === false)
  await each('links', empty, (planned) => steps.writeBody(planned))
  return resultOf({ plan, state, failed, knowledgeBase })
}

type Owned = { key: string; attachment: PlannedAttachment; owner: string }

// One by one, since each stands in one that came before.
async function makeFolders(context: ImportContext & { steps: Steps; knowledgeBase: number }): Promise<void> {
  const { plan, state, progress, steps, knowledgeBase } = context
  progress.begin('folders', plan.folders.length)
  for (const folder of plan.folders) {
    if (!state.folders.has(folder.key)) await steps.makeFolder(folder, knowledgeBase)
    progress.step()
  }
}

/** How many requests are on their way at a time. */
const atOnce = 4

// What one item is refused for does not keep the others from being done; all else ends the import.
function lanes({ progress, failed }: { progress: Progress; failed: Failure[] }) {
  return async <T extends { key: string }>(label: string, items: readonly T[], work: (item: T) => Promise<void>) => {
    const limit = pLimit(atOnce)
    progress.begin(label, items.length)
    const attempt = async (item: T) => {
      try {
        await work(item)
      } catch (error) {
        if (!(error instanceof Refused || error instanceof SourceError)) throw error
        failed.push({ name: item.key, reason: error.message })
        progress.tell(`not imported: ${JSON.stringify(item.key)}: ${error.message}`)
      }
      progress.step()
    }
    try {
      await Promise.all(items.map((item) => limit(() => attempt(item))))
    } finally {
      limit.clearQueue()
    }
  }
}

function resultOf(input: { plan: Plan; state: ImportState; failed: Failure[]; knowledgeBase: number }): ImportResult {
  const { plan, state, failed, knowledgeBase } = input
  const hasOther = ({ key, id }: PlannedDocument) => {
    const made = state.documents.get(key)
    return made !== undefined && id !== null && made.id !== id
  }
  return {
    knowledge_base_id: knowledgeBase,
    folders: state.folders.size,
    documents: state.documents.size,
    attachments: state.attachments.size,
    renamed: plan.documents.filter(hasOther).length,
    skipped: countsOf(plan),
    failed,
  }
}

function countsOf({ skipped }: Plan): ImportResult['skipped'] {
  const counts: ImportResult['skipped'] = {}
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}
