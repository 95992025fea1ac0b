import { workersOf } from '../../workers/types.ts'
import { h, p, text } from '../document/build.ts'
import { LiveProcess, Site, textAt } from '../live/site.ts'
import { samples, uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, make, put } from '../support/documents.ts'
import { everyNode } from '../support/every-node.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { type Teardown, until } from '../support/site.ts'
import { marked } from '../support/translation-stub.ts'
import { edit, ok, review, unitsOf } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'
import { untilDerived } from './derived.ts'

/** The ids of a workspace in which everything exists, and the token of its owner. */
export type Everything = {
  token: string
  workspaceId: string
  workspace: string
  /** The knowledge base that tests delete, and another one whose documents refer to it. */
  zoo: number
  harbour: number
  /** `large` is in `mammals`; `mammals` and `birds` are in the zoo, `docks` is in the harbour. */
  folders: { mammals: number; large: number; birds: number; docks: number }
  /** The documents by names. The comments of `makeDocuments` say what each is for. */
  documents: Documents
  sets: string[]
  concepts: string[]
  attachments: string[]
  summaryJobs: string[]
  translationJobs: string[]
  shares: string[]
}

type Documents = Record<
  'elephants' | 'lakes' | 'storks' | 'sheet' | 'ships' | 'herd' | 'troupeau' | 'herde' | 'crew' | 'equipage',
  string
>

/** Makes a workspace in which everything exists, with all workers. Everything derived is current at the end. */
export async function makeEverything(t: Teardown, env: Record<string, string>): Promise<Everything> {
  const stub = await startModelStub(t)
  const service = await startTestService(t, { ...env, ...stub.env })
  const ada = await service.signUp({ email: 'ada@example.test', workspace: 'Everything' })
  await startWorkers(t, service, workersOf(['search', 'changes', 'relations', 'candidates', 'summaries']))
  await startWorkers(t, service, workersOf(['localization', 'events']))
  const place = await makeStructure(ada)
  const { documents, attachments } = await makeDocuments(ada, place)
  await typeInto(service, ada, documents.lakes)
  const sets = await makeSets(ada, { place, documents })
  stub.answerWith(marked)
  const translationJobs = await makeUnits(ada, documents)
  stub.answerWith(() => ({ text: 'What a model says about it.' }))
  await makeRelations(ada, documents)
  const concepts = await makeConcepts(ada, { ...place, documents })
  const shares = await Promise.all(
    [documents.elephants, documents.ships].map(
      async (id) => ok(await ada.post(`/documents/${id}/public-share`)).data.share_id,
    ),
  )
  await placeByHand(ada, { ...place, documents })
  await untilDerived(service)
  const summaryJobs = await makeSummaries(ada, { ...place, documents })
  await untilDerived(service)
  return {
    token: ada.token,
    workspaceId: ada.workspace_id,
    workspace: 'Everything',
    ...place,
    documents: { ...documents, ...sets.documents },
    sets: sets.sets,
    concepts,
    attachments,
    summaryJobs,
    translationJobs,
    shares,
  }
}

type Place = Pick<Everything, 'zoo' | 'harbour' | 'folders'>

async function makeStructure(ada: Client): Promise<Place> {
  const base = async (name: string) => ok(await ada.post('/knowledge-bases', { name })).data.id as number
  const folder = async (name: string, members: object) =>
    ok(await ada.post('/folders', { name, ...members })).data.id as number
  const zoo = await base('City zoo')
  const harbour = await base('Harbour')
  const mammals = await folder('Mammals', { knowledge_base_id: zoo })
  const large = await folder('Large', { parent_id: mammals })
  const birds = await folder('Birds', { knowledge_base_id: zoo })
  const docks = await folder('Docks', { knowledge_base_id: harbour })
  return { zoo, harbour, folders: { mammals, large, birds, docks } }
}

type Written = { documents: Documents; attachments: string[] }

async function makeDocuments(ada: Client, { zoo, folders }: Place): Promise<Written> {
  // A document that people have edited live; the other documents link to it.
  const lakes = await make(ada, [h(1, 'Lakes'), p('A lake in the zoo'), p('Reeds')], {
    title: 'Lakes',
    knowledge_base_id: zoo,
  })
  // A document in another knowledge base, which outlives the zoo.
  const ships = await make(ada, [p('Ships')], { title: 'Ships', folder_id: folders.docks })
  // A document with every node, several versions, attachments and metadata.
  const elephants = await make(ada, [h(1, 'Elephants'), p('Elephants drink')], {
    title: 'Elephants',
    folder_id: folders.large,
    heading_numbered: true,
    background_color: '#abcdef',
  })
  const shown = await uploaded(ada, { documentId: elephants.id })
  const unshown = await uploaded(ada, {
    documentId: lakes.id,
    filename: 'notes.txt',
    type: 'text/plain',
    bytes: samples.text,
  })
  const anchor = await uploaded(ada, { documentId: ships.id, filename: 'anchor.png' })
  const body = everyNode({ attachmentId: shown, documentId: lakes.id })
  await put(ada, elephants.id, [...body, linking('the harbour', ships.id), image(anchor)])
  const { blocks } = await bodyOf(ada, elephants.id)
  await put(ada, elephants.id, [...blocks.slice(0, 3), p('An added paragraph'), ...blocks.slice(3)])
  ok(await ada.patch(`/documents/${elephants.id}`, { collapsed_block_ids: [blocks[1]?.attrs.id] }))
  await put(ada, ships.id, [p('Ships'), linking('the elephants', elephants.id), image(shown)])
  await put(ada, lakes.id, [...lakes.blocks, linking('the elephants', elephants.id)])
  const storks = await make(ada, [p('Storks')], { title: 'Storks', folder_id: folders.birds })
  const sheet = await make(ada, [p('cells')], {
    title: 'Sheet',
    folder_id: folders.birds,
    document_type: 'spreadsheet',
  })
  // The source of a set: a paragraph for each status of a unit.
  const herd = await make(
    ada,
    Array.from({ length: 8 }, (_, index) => p(`Paragraph ${index} about a herd`)),
    { title: 'Herd', folder_id: folders.large },
  )
  // A source that outlives the zoo; its translation is in the zoo.
  const crew = await make(ada, [p('A crew'), p('of sailors')], { title: 'Crew', folder_id: folders.docks })
  const ids = { elephants, lakes, storks, sheet, ships, herd, crew }
  const named = Object.fromEntries(Object.entries(ids).map(([name, { id }]) => [name, id]))
  return { documents: named as Documents, attachments: [shown, unshown, anchor] }
}

const linking = (words: string, id: string) =>
  p('See ', text(words, { type: 'link', attrs: { href: `svc://doc/${id}` } }))

const image = (attachmentId: string) => ({ type: 'image', attrs: { attachmentId, alt: 'a picture' } })

// Edits a document as a browser does, so that it has a Y document.
async function typeInto(service: TestService, ada: Client, id: string): Promise<void> {
  const site = await Site.of(service, ada)
  const live = await LiveProcess.open(site, { workspace_id: site.caller.memberships[0]?.workspace_id ?? '', id })
  textAt(live.doc, 1).insert(0, 'Typed: ')
  await live.flush(site.caller, 'after')
}

async function makeSets(ada: Client, input: { place: Place; documents: Documents }) {
  const { documents, place } = input
  const activate = async (source: string, target_locales: string[]) => {
    const body = { source_locale: 'en', target_locales, create_mode: 'copy_structure' }
    return ok(await ada.post(`/documents/${source}/translation/activate`, body)).data
  }
  const herd = await activate(documents.herd, ['fr', 'de'])
  const member = (set: { variants: { locale: string; id: string }[] }, locale: string) =>
    set.variants.find((variant) => variant.locale === locale)?.id ?? ''
  // One translation of the herd is in the harbour, so the set outlives the zoo.
  const herde = member(herd, 'de')
  ok(await ada.patch(`/documents/${herde}`, { knowledge_base_id: place.harbour }))
  const crew = await activate(documents.crew, ['fr'])
  const equipage = member(crew, 'fr')
  ok(await ada.patch(`/documents/${equipage}`, { folder_id: place.folders.birds }))
  const troupeau = member(herd, 'fr')
  const states = { workflow_status: 'in_review' }
  ok(await ada.patch(`/documents/${documents.herd}/translations/${troupeau}`, states))
  Object.assign(documents, { troupeau, herde, equipage })
  return { sets: [herd.id as string, crew.id as string], documents: { troupeau, herde, equipage } }
}

// Gives folders and documents a place in the manual order.
async function placeByHand(ada: Client, { folders, documents }: Place & { documents: Documents }): Promise<void> {
  ok(await ada.patch(`/folders/${folders.mammals}`, { position: { after: folders.birds } }))
  ok(await ada.patch(`/folders/${folders.large}`, { position: 'first' }))
  for (const id of [documents.elephants, documents.herd, documents.lakes]) {
    ok(await ada.patch(`/documents/${id}`, { position: 'first' }))
  }
}

// Brings the units of a translation into each of the seven statuses. Returns the ids of the jobs.
async function makeUnits(ada: Client, { herd, troupeau }: Documents): Promise<string[]> {
  const units = await unitsOf(ada, troupeau)
  const translated = units.slice(0, 5).map(({ id }) => id)
  const jobs = `/documents/${herd}/translation-jobs`
  const job = ok(await ada.post(jobs, { target_locale: 'fr', unit_ids: translated })).data
  const statusOf = async (id: string) => ok(await ada.get(`/translation-jobs/${id}`)).data.status
  await until(async () => (await statusOf(job.id)) === 'succeeded')
  ok(await ada.post(`/translation-jobs/${job.id}/apply`, {}, { 'if-match': `"${job.target_version}"` }))
  const applied = await unitsOf(ada, troupeau)
  const target = (index: number) => applied[index]?.target_block_ids[0] ?? ''
  const source = (index: number) => applied[index]?.source_block_id ?? ''
  ok(await review(ada, troupeau, { unit: applied[1]?.id ?? '', review_status: 'current' }))
  await edit(ada, troupeau, { block: target(2), text: 'By hand' })
  await edit(ada, herd, { block: source(3), text: 'A changed source' })
  await edit(ada, herd, { block: source(4), text: 'Another changed source' })
  await edit(ada, troupeau, { block: target(4), text: 'A changed target' })
  ok(await review(ada, troupeau, { unit: applied[5]?.id ?? '', review_status: 'ignored' }))
  const last = ok(await ada.post(jobs, { target_locale: 'fr' })).data
  await until(async () => (await statusOf(last.id)) === 'succeeded')
  return [job.id, last.id]
}

async function makeRelations(ada: Client, { elephants, lakes, ships }: Documents): Promise<void> {
  for (const [from, to] of [
    [elephants, lakes],
    [elephants, ships],
    [ships, elephants],
  ] as const) {
    const [block] = (await bodyOf(ada, from)).blocks
    const relation = { source_document_id: from, source_block_id: block?.attrs.id, predicate: 'supports' }
    ok(await ada.post('/relations', { ...relation, target_uri: `svc://doc/${to}`, anchor_text: 'by hand' }))
  }
}

async function makeConcepts(ada: Client, place: Place & { documents: Documents }): Promise<string[]> {
  const { zoo, harbour, documents } = place
  const create = async (members: object) => ok(await ada.post('/concepts', members)).data
  const water = await create({
    knowledge_base_id: zoo,
    name: 'Water',
    description: 'What animals drink',
    aliases: ['Wet stuff'],
    labels: [{ locale: 'de', name: 'Wasser' }],
    canonical_document_id: documents.lakes,
  })
  const liquid = await create({ knowledge_base_id: zoo, name: 'Liquid' })
  const drink = await create({ knowledge_base_id: zoo, name: 'Drink', aliases: ['Beverage'] })
  const ship = await create({ knowledge_base_id: harbour, name: 'Ship', canonical_document_id: documents.elephants })
  const guard = (version: string) => ({ 'if-match': `"${version}"` })
  const [block] = (await bodyOf(ada, documents.elephants)).blocks
  const evidence = { document_id: documents.elephants, block_id: block?.attrs.id, excerpt: 'They drink' }
  const sourced = ok(await ada.post(`/concepts/${water.id}/sources`, evidence, guard(water.version))).data
  const about = { document_id: documents.elephants, excerpt: 'They drink' }
  ok(await ada.post(`/concepts/${ship.id}/sources`, about, guard(ship.version)))
  const broader = { predicate: 'broader_than', object: { kind: 'concept', id: water.id } }
  ok(await ada.post(`/concepts/${liquid.id}/relations`, broader, guard(liquid.version)))
  const merge = { target_concept_id: water.id, target_version: sourced.version, reason: 'The same' }
  ok(await ada.post(`/concepts/${drink.id}/merge`, merge, guard(drink.version)))
  for (const document_id of [documents.elephants, documents.lakes, documents.ships]) {
    ok(await ada.post('/concept-candidates/extract', { document_id }))
  }
  const candidates = ok(await ada.get(`/concept-candidates?knowledge_base_id=${zoo}`)).data
  const [accepted, rejected] = candidates
  ok(await ada.post(`/concept-candidates/${accepted.id}/accept`, {}, guard(accepted.version)))
  ok(await ada.post(`/concept-candidates/${rejected.id}/reject`, { reason: 'No' }, guard(rejected.version)))
  return [water.id, liquid.id, drink.id, ship.id]
}

// Summaries on all four levels: by a model, by hand and pinned, and without a model; one of them is stale.
async function makeSummaries(ada: Client, place: Place & { documents: Documents }): Promise<string[]> {
  const { zoo, folders, documents } = place
  const rebuild = (path: string, generator: string) => ada.post(`${path}/summary/rebuild`, { generator })
  const byHand = async (path: string, pinned: boolean) => {
    const { data } = ok(await ada.get(`${path}/summary`))
    const body = { text: `By hand for ${path}`, base_source_version: data.current_source_version, pinned }
    ok(await ada.put(`${path}/summary`, body, { 'if-match': `"summary:${data.summary_version}"` }))
  }
  const elephants = `/documents/${documents.elephants}`
  const jobs: string[] = []
  for (const path of [elephants, `/folders/${folders.mammals}`]) {
    const { id } = ok(await rebuild(path, 'model')).data
    await until(async () => ok(await ada.get(`/summary-jobs/${id}`)).data.status === 'succeeded')
    jobs.push(id)
  }
  const { blocks } = await bodyOf(ada, documents.elephants)
  const heading = blocks.find(({ type }) => type === 'heading')?.attrs.id
  ok(await ada.post(`${elephants}/summary/rebuild?block_id=${heading}`, { generator: 'deterministic' }))
  await byHand(`/documents/${documents.lakes}`, true)
  await byHand(`/documents/${documents.storks}`, false)
  await put(ada, documents.storks, [p('Storks have changed'), p('since then')])
  await byHand(`/folders/${folders.birds}`, true)
  ok(await rebuild(`/knowledge-bases/${zoo}`, 'deterministic'))
  ok(await rebuild(`/documents/${documents.ships}`, 'deterministic'))
  return jobs
}
