import { workersOf } from '../../../workers/types.ts'
import type { Client } from '../../support/client.ts'
import { searchV2 } from '../../support/search.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { rewrite, startWorkers, untilFresh, write } from '../../support/workers.ts'

const actionsOfAWriter = 60

t.test('while people write, no single answer is out of date or claims more than it knows', async (t) => {
  const service = await startTestService(t)
  for (let copy = 0; copy < 2; copy += 1) await startWorkers(t, service, workersOf(['search', 'events']))
  const ada = await service.signUp()
  const bases = [await createBase(ada, 'One'), await createBase(ada, 'Two')] as const

  const world = { ada, bases, documents: [] as Known[], watermarks: new Map<string, number>() }
  let writing = true
  const writers = Promise.all(['a', 'b', 'c'].map((name) => writer(world, name))).finally(() => {
    writing = false
  })
  const answers = { count: 0, complete: 0, wrong: [] as string[] }
  const searcher = async (scopes: (number | undefined)[], mode: string) => {
    while (writing) for (const base of scopes) await ask(world, { base, mode, answers })
  }
  await Promise.all([writers, searcher([undefined], 'topk'), searcher([...bases, undefined], 'exhaustive')])

  await untilFresh(ada)
  for (const base of [...bases, undefined]) await ask(world, { base, mode: 'exhaustive', answers })
  t.strictSame(answers.wrong, [])
  t.comment(`${answers.count} answers, ${answers.complete} of them complete, ${world.documents.length} documents`)
  t.ok(answers.count > 10)
})

/** What a writer knows of its document: the acknowledged state, and how many writes were begun and acknowledged. */
type Known = { id: string; state: State; begun: number; acknowledged: number }
type State = { text: number; title: number; base: number; deleted: boolean }
type World = { ada: Client; bases: readonly [number, number]; documents: Known[]; watermarks: Map<string, number> }

/** Changes two documents of its own again and again: text, title, place; now and then one is deleted and made anew. */
async function writer(world: World, name: string): Promise<void> {
  const { ada, bases, documents } = world
  const create = async () => {
    const { id, knowledge_base_id } = await write(ada, `needle ${name} v0`, {
      title: 'needle t0',
      knowledge_base_id: bases[0],
    })
    const state = { text: 0, title: 0, base: knowledge_base_id, deleted: false }
    const made: Known = { id, state, begun: 0, acknowledged: 0 }
    documents.push(made)
    return made
  }
  const own = [await create(), await create()]
  for (let action = 1; action <= actionsOfAWriter; action += 1) {
    const slot = action % 2
    const document = own[slot] as Known
    const { state } = document
    document.begun += 1
    if (action % 20 === 0) {
      await succeed(ada.delete(`/documents/${document.id}`))
      document.state = { ...state, deleted: true }
      own[slot] = await create()
    } else if (action % 7 === 0) {
      const base = state.base === bases[0] ? bases[1] : bases[0]
      const change = { title: `needle t${action}`, knowledge_base_id: base }
      await succeed(ada.patch(`/documents/${document.id}`, change))
      document.state = { ...state, title: action, base }
    } else {
      await rewrite(ada, document.id, `needle ${name} v${action}`)
      document.state = { ...state, text: action }
    }
    document.acknowledged += 1
  }
}

/** Searches once and holds the answer against what was acknowledged before the search began. */
async function ask(
  world: World,
  search: { base: number | undefined; mode: string; answers: { count: number; complete: number; wrong: string[] } },
): Promise<void> {
  const { base, mode, answers } = search
  const before = world.documents.map((document) => ({ document, ...document }))
  const scope = String(base)
  const lowest = world.watermarks.get(scope) ?? 0
  const query = { q: 'needle', mode, limit: 100, ...(base !== undefined && { knowledge_base_id: base }) }
  const { results, projection } = await searchV2(world.ada, query)
  const watermark = Number(projection.watermark.slice(3))
  world.watermarks.set(scope, Math.max(world.watermarks.get(scope) ?? 0, watermark))

  const wrong: string[] = []
  if (watermark < lowest) wrong.push(`the watermark went from ${lowest} to ${watermark}`)
  if (projection.document_count !== projection.current_document_count + projection.stale_document_count)
    wrong.push('counts do not add up')
  if (projection.complete !== (projection.stale_document_ids.length === 0)) wrong.push('complete with stale documents')
  for (const known of before) {
    const hits = results.filter((hit: Hit) => hit.document_id === known.id).map(read)
    const unmoved = known.document.begun === known.acknowledged
    const stale = projection.stale_document_ids.includes(known.id)
    wrong.push(...judge({ known, hits, stale, unmoved, base }).map((what) => `${known.id}: ${what}`))
  }
  answers.count += 1
  answers.complete += Number(projection.complete)
  answers.wrong.push(...wrong.map((what) => `${what}; ${JSON.stringify({ query, projection })}`))
}

type Hit = {
  document_id: string
  title: string
  matched_in: string
  knowledge_base_id: number
  context: { after: string }
  source_version: string
  indexed_version: string
}
type Read = { kind: string; number: number; title: number; base: number; fresh: boolean }

function read(hit: Hit): Read {
  return {
    kind: hit.matched_in,
    number: Number(/[tv](\d+)$/.exec(hit.context.after)?.[1]),
    title: Number(/t(\d+)$/.exec(hit.title)?.[1]),
    base: hit.knowledge_base_id,
    fresh: hit.source_version === hit.indexed_version,
  }
}

/** What is wrong with the hits of one document; one that was being written meanwhile may be ahead, never behind. */
function judge(input: {
  known: Known
  hits: Read[]
  stale: boolean
  unmoved: boolean
  base: number | undefined
}): string[] {
  const { known, hits, stale, unmoved, base } = input
  const { state } = known
  const problems: string[] = []
  if (stale && hits.length > 0) problems.push('stale, and yet found')
  if (!hits.every(({ fresh }) => fresh)) problems.push('found in another version than indexed')
  for (const { kind, number, title } of hits) {
    if (number < (kind === 'title' ? state.title : state.text)) problems.push(`found in the old ${kind} ${number}`)
    if (title < state.title) problems.push(`found under the old title ${title}`)
  }
  if (state.deleted && (hits.length > 0 || stale)) problems.push('deleted, and yet there')
  if (!unmoved || state.deleted) return problems
  const inScope = base === undefined || base === state.base
  if (inScope && !stale && hits.length !== 2) problems.push(`${hits.length} hits, and not stale`)
  if (!inScope && (stale || hits.length > 0)) problems.push('found where it is not')
  if (hits.some((hit) => hit.base !== state.base || hit.title !== state.title)) problems.push('not where it is')
  if (hits.some((hit) => hit.number !== (hit.kind === 'title' ? state.title : state.text)))
    problems.push('not as it is')
  return problems
}

async function succeed(reply: ReturnType<Client['get']>): Promise<void> {
  const { status, text } = await reply
  if (status >= 300) throw new Error(`${status} ${text}`)
}

async function createBase(client: Client, name: string): Promise<number> {
  return (await client.post('/knowledge-bases', { name })).body.data.id
}
