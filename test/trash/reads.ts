import { createHash } from 'node:crypto'
import type { Route } from '../../api/http/route.ts'
import { routes } from '../../api/routes/routes.ts'
import type { Client, Reply } from '../support/client.ts'
import { manifestOf, requestExport } from '../support/zips.ts'
import type { Everything } from './everything.ts'

/** An answer as callers see it: its status, its ETag, and its data without what differs from call to call. */
export type Read = { status: number; etag: string | null; answer: unknown }

/** The answers of all reads by path and query. */
export type Reads = Map<string, Read>

// Reads that are no function of what is stored: streams, and the archive, which is compared file by file instead. The
// trash itself and the log of writes are what differs.
const apart = new Set(['streamEvents', 'exportKnowledgeBase', 'listTrash', 'listAudit'])

const readOperations = routes.filter(({ method, operationId }) => method === 'GET' && !apart.has(operationId))

/**
 * Calls every read of the API for everything in the workspace, with each of its forms. `known` names what cannot be
 * looked up any more once it is deleted: blocks, versions and cursors, as `knownPlaces` found them before.
 */
export async function readEverything(client: Client, input: { everything: Everything; known: Known }): Promise<Reads> {
  const reads: Reads = new Map()
  for (const path of readOperations.flatMap((spec) => pathsOf(spec, input))) {
    reads.set(path, readOf(await client.get(path)))
  }
  for (const base of [input.everything.zoo, input.everything.harbour]) {
    reads.set(`export of ${base}`, await exportOf(client, base))
  }
  return reads
}

/** What can be read of documents only by names that other reads tell. */
export type Known = {
  blocks: { document: string; block: string }[]
  headings: { document: string; block: string }[]
  versions: { document: string; seq: number }[]
  cursors: { document: string; cursor: string }[]
  candidates: string[]
}

/** Looks up the blocks, versions, cursors and candidates of a workspace. */
export async function knownPlaces(client: Client, everything: Everything): Promise<Known> {
  const known: Known = { blocks: [], headings: [], versions: [], cursors: [], candidates: [] }
  for (const document of Object.values(everything.documents)) {
    const data = async (path: string) => (await client.get(`/documents/${document}/${path}`)).body.data
    for (const { attrs, type } of (await data('content')).document.content) {
      known.blocks.push({ document, block: attrs.id })
      if (type === 'heading') known.headings.push({ document, block: attrs.id })
    }
    for (const { seq } of await data('versions')) known.versions.push({ document, seq })
    // The chain of changes from the first body on.
    const { cursor } = await data('changes?limit=1')
    known.cursors.push({ document, cursor })
  }
  for (const base of [everything.zoo, everything.harbour]) {
    const path = `/concept-candidates?knowledge_base_id=${base}&review_status=all`
    known.candidates.push(...(await client.get(path)).body.data.map(({ id }: { id: string }) => id))
  }
  return known
}

type Place = { everything: Everything; known: Known }

// The values of the parameter `id` by the error of its absence, or by the collection.
const idsOf: Record<string, (e: Everything) => readonly (string | number)[]> = {
  knowledge_base_not_found: ({ zoo, harbour }) => [zoo, harbour],
  folder_not_found: ({ folders }) => Object.values(folders),
  document_not_found: ({ documents }) => Object.values(documents),
  document_set_not_found: ({ sets }) => sets,
  concept_not_found: ({ concepts }) => concepts,
  attachment_not_found: ({ attachments }) => attachments,
  'summary-jobs': ({ summaryJobs }) => summaryJobs,
  'translation-jobs': ({ translationJobs }) => translationJobs,
}

const words = ['elephants', 'storks', 'typed', 'paragraph', 'crew', 'مئة', '一百升水']

// The queries of a route. Each route without an entry is called without a query.
const queriesOf: Record<string, (place: Place, id: string) => readonly string[]> = {
  search: () => words.map((word) => `?q=${encodeURIComponent(word)}&limit=100`),
  searchV2: ({ everything }) =>
    words.flatMap((word) => {
      const q = encodeURIComponent(word)
      return [
        `?q=${q}&limit=100&locale=all&include_summary=true`,
        `?q=${q}&mode=exhaustive&limit=100&knowledge_base_id=${everything.zoo}`,
      ]
    }),
  listRelations: () => ['', '?direction=incoming', '?direction=outgoing&limit=1'],
  listConcepts: ({ everything: { zoo, harbour, documents } }) =>
    [zoo, harbour].flatMap((base) => [
      `?knowledge_base_id=${base}&status=all`,
      `?knowledge_base_id=${base}&q=w`,
      `?knowledge_base_id=${base}&document_id=${documents.elephants}`,
    ]),
  traverseConcept: () => ['', '?direction=incoming'],
  listConceptCandidates: ({ everything: { zoo, harbour, documents }, known }) => [
    ...[zoo, harbour].flatMap((base) => [
      `?knowledge_base_id=${base}&review_status=all`,
      `?knowledge_base_id=${base}&document_id=${documents.elephants}`,
    ]),
    ...known.candidates.map((id) => `?knowledge_base_id=${zoo}&candidate_id=${id}`),
  ],
  getDocumentSummary: ({ known }, id) => [
    '',
    '?query=litres',
    ...known.headings.filter(({ document }) => document === id).map(({ block }) => `?block_id=${block}`),
  ],
  getFolderSummary: () => ['', '?query=elephants'],
  getKnowledgeBaseSummary: () => ['', '?query=elephants'],
  getTree: () => ['', '?include_summary=true', '?sort=manual'],
  listFolderChildren: () => ['', '?limit=1', '?sort=manual'],
  listDocuments: ({ everything: { zoo, harbour, folders } }) => [
    ...['?include_variants=true', '?sort=updated_at&limit=3', '?q=e&include_variants=true', '?locale=fr'],
    ...[`?knowledge_base_id=${zoo}`, `?knowledge_base_id=${harbour}&include_variants=true&sort=updated_at`],
    ...[`?folder_id=${folders.large}&include_variants=true`],
  ],
  getDocument: () => ['', '?locale=fr'],
  getContent: () => ['?format=tiptap-json', '?format=markdown&annotate=anchors', '?format=html', '?locale=fr'],
  getOutline: () => ['', '?locale=de'],
  readDocument: ({ known }, id) => [
    '?view=outline',
    '?view=plain-text',
    '?max_tokens=64',
    ...known.headings.filter(({ document }) => document === id).map(({ block }) => `?around=${block}`),
  ],
  listBlocks: () => ['?recursive=true', '?limit=2'],
  listChanges: ({ known }, id) => [
    '',
    ...known.cursors.filter(({ document }) => document === id).map(({ cursor }) => `?after=${cursor}`),
  ],
  listTranslationUnits: ({ everything: { documents } }) => [
    '?locale=fr',
    '?locale=de',
    `?target_document_id=${documents.troupeau}&status=conflict`,
  ],
}

function pathsOf(spec: Route, place: Place): string[] {
  const parameters = spec.params?.properties ?? {}
  const [, collection = ''] = spec.path.split('/')
  const withQueries = (path: string, id: string) =>
    (queriesOf[spec.operationId]?.(place, id) ?? ['']).map((query) => path + query)
  if (parameters['id'] === undefined) return withQueries(spec.path, '')
  const error = (parameters['id'] as { 'x-error'?: string })['x-error'] ?? ''
  const ids = (idsOf[collection] ?? idsOf[error])?.(place.everything)
  if (ids === undefined) throw new Error(`${spec.operationId}: test/trash/reads.ts knows no ids of its resources`)
  return ids.flatMap((id) => {
    const path = spec.path.replace('{id}', String(id))
    return partsOf(spec, { path, id: String(id), known: place.known }).flatMap((part) => withQueries(part, String(id)))
  })
}

// The paths of the parts of a resource: of its blocks and versions.
function partsOf(spec: Route, input: { path: string; id: string; known: Known }): string[] {
  const { path, id, known } = input
  const own = <T extends { document: string }>(parts: readonly T[]) => parts.filter(({ document }) => document === id)
  if (path.includes('{blockId}')) return own(known.blocks).map(({ block }) => path.replace('{blockId}', block))
  if (path.includes('{seq}')) return own(known.versions).map(({ seq }) => path.replace('{seq}', String(seq)))
  if (path.includes('{')) throw new Error(`${spec.operationId}: test/trash/reads.ts does not know its parameters`)
  return [path]
}

// An export as the digests of its files, in any order. The manifest is there without the time of the export.
async function exportOf(client: Client, base: number): Promise<Read> {
  const reply = await requestExport(client, base)
  if (reply.status !== 200) return { status: reply.status, etag: null, answer: null }
  const { files, manifest } = await manifestOf(Buffer.from(await reply.arrayBuffer()))
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  const digests = [...files].map(([name, bytes]) => [
    name,
    name === 'manifest.json' ? withoutTimes(manifest) : digest(bytes),
  ])
  return { status: 200, etag: null, answer: Object.fromEntries(digests.sort()) }
}

function readOf({ status, headers, text, body }: Reply): Read {
  const { request_id: _, ...envelope } = body ?? {}
  return { status, etag: headers.get('etag'), answer: body === undefined ? text : withoutTimes(envelope) }
}

// Members that tell when or in which order something was derived, and not what.
const derivation = new Set(['watermark', 'extracted_at', 'indexed_at', 'exported_at'])

function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (derivation.has(name) ? undefined : member)))
}
