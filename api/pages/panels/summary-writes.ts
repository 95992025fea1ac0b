import { readSummary } from '../../../shared/summaries/read.ts'
import { rebuildByModel, rebuildDeterministic } from '../../../shared/summaries/rebuild.ts'
import { saveManual } from '../../../shared/summaries/save.ts'
import { SummaryInput } from '../../../shared/summaries/schema.ts'
import type { TargetRequest } from '../../../shared/summaries/target.ts'
import { bodyReader } from '../../http/input.ts'
import { versionGuard } from '../../http/version-guard.ts'
import type { Form } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import type { PanelCall } from './frame.ts'

/** Does what a form asks for with a summary. Returns the id of a job that was made, or null. */
type Write = (call: PanelCall, asked: { request: TargetRequest; submitted: Form }) => Promise<string | null>

/** What the forms of the panel of summaries can ask for, by the value of their field `operation`. */
export const summaryWrites: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['rebuild', rebuild],
  ['save', save],
])

/** Who makes a summary that a form asks for: a model, or the service without a model. */
export function generatorOf(submitted: Form): 'model' | 'deterministic' {
  return submitted.field('generator') === 'model' ? 'model' : 'deterministic'
}

/** The text of a summary as a form has it. Browsers end the lines of a text with two characters. */
export function typedText(submitted: Form): string {
  return submitted.field('text').replaceAll('\r\n', '\n')
}

// Makes a summary anew. With a model, this is a job, and the result is its id. A summary that a person wrote is only
// replaced with the field `replace`, and each summary only in the version that the form has shown.
async function rebuild(call: PanelCall, { request, submitted }: Parameters<Write>[1]): Promise<string | null> {
  const { service, caller } = call
  const generator = generatorOf(submitted)
  const { summary } = await readSummary(service.database, { caller, request, query: undefined })
  const mayReplace = summary.generator !== 'manual' || submitted.field('replace') === 'yes'
  const guard = versionGuard({ required: false, tags: mayReplace ? [submitted.field('tag')] : null })
  return pageWrite(call, async (context) => {
    const target = { caller: context.caller, request, asked: { generator }, guard } as const
    const job = generator === 'model' ? await rebuildByModel(context, target) : null
    if (job === null) await rebuildDeterministic(context, target)
    await recordPageWrite(context.tx, { call, ...recordOf('rebuild', request) })
    return job?.id ?? null
  })
}

const readInput = bodyReader(SummaryInput) as (body: unknown) => SummaryInput

// Saves what a person wrote, in place of the summary and for the source that the form has shown.
async function save(call: PanelCall, { request, submitted }: Parameters<Write>[1]): Promise<null> {
  const written = readInput({
    text: typedText(submitted).trim(),
    base_source_version: submitted.field('source'),
    pinned: submitted.field('pinned') === 'yes',
  })
  const guard = versionGuard({ required: true, tags: [submitted.field('tag')] })
  await pageWrite(call, async (context) => {
    await saveManual(context, { caller: context.caller, request, written, guard })
    await recordPageWrite(context.tx, { call, ...recordOf('put', request) })
  })
  return null
}

function recordOf(operation: 'put' | 'rebuild', request: TargetRequest) {
  if (request.type === 'document') return { action: `${operation}DocumentSummary`, documentIds: [request.id] }
  if (request.type === 'folder') return { action: `${operation}FolderSummary`, place: { folderId: request.id } }
  return { action: `${operation}KnowledgeBaseSummary`, place: { knowledgeBaseId: request.id } }
}
