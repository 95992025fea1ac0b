import { type Static, Type } from 'typebox'
import { Summary, SummaryInput, type SummaryJob } from '../../../shared/summaries/schema.ts'
import { exactlyOne, needed, wrongArguments } from '../arguments.ts'
import { type Door, ifMatch, type RouteAnswer } from '../door.ts'
import { type ToolAnswer, tool } from '../tool.ts'

const Input = Type.Object({
  document_id: Type.Optional(Type.String()),
  section: Type.Optional(Type.String({ description: 'block id of a heading' })),
  folder_id: Type.Optional(Type.Integer()),
  knowledge_base_id: Type.Optional(Type.Integer()),
  query: Type.Optional(Type.String({ description: 'read only passages about this' })),
  rebuild: Type.Optional(
    Type.Enum(['deterministic', 'model'], { description: 'deterministic: at once; model: a job' }),
  ),
  text: Type.Optional(Type.Unsafe<string>({ ...SummaryInput.properties.text, description: 'yours, to store' })),
  source_version: Type.Optional(Type.String({ description: 'with text: current_source_version as read' })),
  summary_version: Type.Optional(
    Type.Integer({ description: 'with text, or to rebuild what a person wrote: as read' }),
  ),
})
type Input = Static<typeof Input>

const { text, status, generator, freshness, pinned, summary_version, current_source_version, pending_job_id } =
  Summary.properties

const Output = Type.Object({
  text: Type.Optional(text),
  status: Type.Optional(status),
  generator,
  freshness: Type.Optional(freshness),
  pinned: Type.Optional(pinned),
  summary_version: Type.Optional(summary_version),
  current_source_version,
  coverage: Type.Optional(Type.Number()),
  job_id: pending_job_id,
})
type Answer = ToolAnswer<Static<typeof Output>>

/** Reads, makes anew or stores the summary of a document, section, folder or knowledge base. */
export const summarise = tool({
  name: 'summarise',
  title: 'Summarise',
  description:
    'Read the summary of a document, section, folder or knowledge base, rebuild it, or store your own text. stale: the source has changed since.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  openWorld: true,
  async run(args, { door }) {
    const target = targetOf(args)
    if (args.text !== undefined) return store(door, target, args)
    if (args.rebuild !== undefined) return rebuild(door, target, args)
    const query = { ...target.query, query: args.query }
    return summaryAnswer(await door<Summary>({ operationId: `get${target.noun}Summary`, params: target.params, query }))
  },
})

/** The resource whose summary is meant, as the routes name it. */
type Target = { noun: string; params: { id: string | number }; query: { block_id?: string } }

function targetOf(args: Input): Target {
  const kind = exactlyOne(args, ['document_id', 'folder_id', 'knowledge_base_id'])
  const { section } = args
  if (section !== undefined && kind !== 'document_id')
    throw wrongArguments([{ name: 'section', message: 'names a part of a document; name document_id with it' }])
  const noun = { document_id: 'Document', folder_id: 'Folder', knowledge_base_id: 'KnowledgeBase' }[kind]
  return {
    noun,
    params: { id: args[kind] as string | number },
    query: section === undefined ? {} : { block_id: section },
  }
}

async function store(door: Door, { noun, params, query }: Target, args: Input): Promise<Answer> {
  const names = ['text', 'source_version', 'summary_version'] as const
  const { text, source_version, summary_version } = needed(args, { names, when: 'to store a summary' })
  const answer = await door<Summary>({
    operationId: `put${noun}Summary`,
    params,
    query,
    headers: ifMatch(`summary:${summary_version}`),
    body: { text, base_source_version: source_version },
  })
  return summaryAnswer(answer, 'Stored. ')
}

async function rebuild(door: Door, { noun, params, query }: Target, args: Input): Promise<Answer> {
  const { rebuild: generator, summary_version } = args
  const answer = await door<Summary | SummaryJob>({
    operationId: `rebuild${noun}Summary`,
    params,
    query,
    headers: ifMatch(summary_version === undefined ? undefined : `summary:${summary_version}`),
    body: { generator },
  })
  const { data } = answer
  if ('text' in data) return summaryAnswer({ ...answer, data }, 'Made anew. ')
  return {
    structured: { generator: data.generator, current_source_version: data.source_version, job_id: data.id },
    summary: `A model makes it: job ${data.id}. Wait for it with the tool job, then read the summary again.`,
  }
}

function summaryAnswer({ data }: Pick<RouteAnswer<Summary>, 'data'>, done = ''): Answer {
  const { text, status, generator, freshness, pinned, summary_version, current_source_version, coverage } = data
  const from = `${coverage.covered_documents} of ${coverage.total_documents} documents`
  const pending = data.pending_job_id === null ? '' : ` A model is making a new one: job ${data.pending_job_id}.`
  return {
    structured: {
      text,
      status,
      generator,
      freshness,
      pinned,
      summary_version,
      current_source_version,
      coverage: coverage.ratio,
      job_id: data.pending_job_id,
    },
    summary: `${done}Summary (${status}, ${generator}, ${freshness}), summary_version ${summary_version}, source_version ${current_source_version}, made from ${from}.${pending}`,
    untrusted: text,
  }
}
