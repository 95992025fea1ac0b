import type { TObject, TSchema } from 'typebox'
import type { ParameterMarks } from '../../api/http/input.ts'
import type { Route } from '../../api/http/route.ts'
import { form, type Part, samples, uploaded } from '../support/attachments.ts'
import type { Client, Reply } from '../support/client.ts'

/** The resources on which the contract tests call every route: one of each kind, with names that occur nowhere else. */
export type Fixture = {
  knowledgeBaseId: number
  folderId: number
  /** The source of a document set. */
  documentId: string
  documentSetId: string
  /** The French translation of the set. */
  translationId: string
  /** A unit of the translation, and a job that no worker ever finishes. */
  unitId: string
  translationJobId: string
  /** A block of the document. */
  blockId: string
  /** A relation from the block to its own document. */
  relationId: string
  conceptId: string
  /** A second concept of the same knowledge base. */
  otherConceptId: string
  candidateId: string
  /** An attachment of the document that no body references. */
  attachmentId: string
  /** The public link of the document. */
  shareId: string
  /** A job about the document. */
  summaryJobId: string
  /** The entry of a deleted document in the trash. */
  trashId: string
  /** The version of the document's body. */
  version: string
  marker: string
}

/** A service on which jobs can be requested; no worker ever runs them. */
export const withModel = {
  OPENAI_API_KEY: 'key',
  OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  SUMMARY_MODEL: 'model',
  TRANSLATION_MODEL: 'model',
}

/** Creates the resources of a fixture in the owner's workspace. The service must come from `withModel`. */
export async function createFixture(owner: Client): Promise<Fixture> {
  const marker = `marker${Math.random().toString(36).slice(2)}`
  const base = await created(owner, '/knowledge-bases', { name: marker })
  const folder = await created(owner, '/folders', { name: marker, knowledge_base_id: base.id })
  const document = await created(owner, '/documents', {
    title: marker,
    knowledge_base_id: base.id,
    folder_id: folder.id,
    tags: ['tag'],
  })
  // The second body makes the first body a version that can be restored.
  const body = { format: 'markdown', content: `# ${marker}` }
  const written = await owner.put(`/documents/${document.id}/content`, body, { 'if-match': '*' })
  if (written.status !== 200) throw new Error(`PUT content answered ${written.status}: ${written.text}`)
  const blockId: string = written.body.data.document.content[0].attrs.id
  const relation = await created(owner, '/relations', {
    source_document_id: document.id,
    source_block_id: blockId,
    target_uri: `svc://doc/${document.id}`,
    predicate: 'supports',
  })
  const activation = { source_locale: 'en', target_locales: ['fr'], create_mode: 'copy_structure' }
  const activated = await owner.post(`/documents/${document.id}/translation/activate`, activation)
  const { id: documentSetId, variants } = activated.body.data
  const units = await owner.get(`/documents/${document.id}/translation-units?locale=fr`)
  const translating = await owner.post(`/documents/${document.id}/translation-jobs`, { target_locale: 'fr' })
  const concept = await created(owner, '/concepts', { name: marker, knowledge_base_id: base.id })
  const other = await created(owner, '/concepts', { name: `other ${marker}`, knowledge_base_id: base.id })
  const extracted = await owner.post('/concept-candidates/extract', { document_id: document.id })
  const candidateId: string = extracted.body.data.candidates[0].id
  const share = await owner.post(`/documents/${document.id}/public-share`)
  const rebuild = await owner.post(`/documents/${document.id}/summary/rebuild`, { generator: 'model' })
  const deleted = await created(owner, '/documents', { title: `deleted ${marker}`, knowledge_base_id: base.id })
  await owner.delete(`/documents/${deleted.id}`)
  const trash = await owner.get(`/trash?knowledge_base_id=${base.id}`)
  return {
    knowledgeBaseId: base.id,
    folderId: folder.id,
    documentId: document.id,
    documentSetId,
    translationId: variants[1].id,
    unitId: units.body.data[0].id,
    translationJobId: translating.body.data.id,
    blockId,
    relationId: relation.id,
    conceptId: concept.id,
    otherConceptId: other.id,
    candidateId,
    shareId: share.body.data.share_id,
    attachmentId: await uploaded(owner, { documentId: document.id, filename: `${marker}.png` }),
    summaryJobId: rebuild.body.data.id,
    trashId: trash.body.data[0].id,
    version: written.body.data.version,
    marker,
  }
}

// The values of path parameters by the name of the parameter, for `id` by the collection or by the error of its
// absence. A new kind of resource is one entry here and, if it has to exist first, one member of the fixture.
const parameterValues: Record<string, (fixture: Fixture) => string> = {
  knowledge_base_not_found: ({ knowledgeBaseId }) => String(knowledgeBaseId),
  folder_not_found: ({ folderId }) => String(folderId),
  document_not_found: ({ documentId }) => documentId,
  relation_not_found: ({ relationId }) => relationId,
  concept_not_found: ({ conceptId }) => conceptId,
  candidate_not_found: ({ candidateId }) => candidateId,
  attachment_not_found: ({ attachmentId }) => attachmentId,
  share_not_found: ({ shareId }) => shareId,
  document_set_not_found: ({ documentSetId }) => documentSetId,
  'translation-jobs': ({ translationJobId }) => translationJobId,
  unitId: ({ unitId }) => unitId,
  translation_not_found: ({ translationId }) => translationId,
  locale: () => 'fr',
  job_not_found: ({ summaryJobId }) => summaryJobId,
  trash_not_found: ({ trashId }) => trashId,
  tag: () => 'tag',
  blockId: ({ blockId }) => blockId,
  seq: () => '1',
}

const paragraph = { type: 'paragraph', content: [{ type: 'text', text: 'x' }] }

// Members of bodies and queries that name resources. They are set wherever a schema has them.
const memberValues: Record<string, (fixture: Fixture, spec: Route) => unknown> = {
  knowledge_base_id: ({ knowledgeBaseId }) => knowledgeBaseId,
  confirm_id: ({ knowledgeBaseId }) => String(knowledgeBaseId),
  folder_id: ({ folderId }) => folderId,
  parent_id: ({ folderId }) => folderId,
  document_id: ({ documentId }) => documentId,
  ids: ({ documentId }) => [documentId],
  block_id: ({ blockId }) => blockId,
  source_document_id: ({ documentId }) => documentId,
  source_block_id: ({ blockId }) => blockId,
  target_document_id: ({ translationId }) => translationId,
  target_locale: () => 'fr',
  target_uri: ({ documentId }) => `svc://doc/${documentId}`,
  object: ({ otherConceptId }) => ({ kind: 'concept', id: otherConceptId }),
  concept_id: ({ conceptId }) => conceptId,
  candidate_id: ({ candidateId }) => candidateId,
  target_concept_id: ({ otherConceptId }) => otherConceptId,
  target_version: () => 'concept:1',
  base_source_version: ({ version }) => version,
  position: ({ blockId }, { tag }) => (tag === 'Blocks' ? { after_block_id: blockId } : 'first'),
  node: () => paragraph,
  find: ({ marker }) => marker,
  replace: ({ marker }) => marker,
  nodes: () => [paragraph],
}

/** The path of a route with the ids of the fixture in place of its parameters. */
export function pathOf(spec: Route, fixture: Fixture): string {
  const parameters: Record<string, ParameterMarks> = spec.params?.properties ?? {}
  const [, collection = ''] = spec.path.split('/')
  return spec.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const own = parameterValues[name === 'id' ? collection : name]
    const value = own ?? parameterValues[parameters[name]?.['x-error'] ?? 'none']
    if (value === undefined) {
      throw new Error(`${spec.operationId}: nothing stands for {${name}}; add it to test/contract/fixtures.ts`)
    }
    return encodeURIComponent(value(fixture))
  })
}

/** The query string of a valid call: the required parameters and the parameters that name resources. */
export function queryOf(spec: Route, fixture: Fixture): string {
  const values = Object.entries(exampleOf({ spec, schema: spec.query, fixture }) as Record<string, unknown>)
  const query = new URLSearchParams(values.map(([name, value]): [string, string] => [name, String(value)]))
  return query.size === 0 ? '' : `?${query}`
}

/** The body of a valid call: the required members and the members that name resources. */
export function bodyOf(spec: Route, fixture: Fixture): Record<string, unknown> {
  return exampleOf({ spec, schema: spec.body, fixture }) as Record<string, unknown>
}

/** The body of a valid call as bytes for the wire: JSON, or a form with a file. */
export function payloadOf(spec: Route, fixture: Fixture): { body?: object; raw?: Uint8Array; headers?: FormHeaders } {
  if (spec.method === 'GET') return {}
  return spec.multipart === undefined ? { body: bodyOf(spec, fixture) } : form(partsOf(spec, fixture))
}

/** Makes a call that succeeds for a caller with all rights; its guard `*` matches any version. */
export function validCall(input: {
  client: Client
  spec: Route
  fixture: Fixture
  /** The resources of body and query, where they are not those of the path. */
  bodyFixture?: Fixture
}): Promise<Reply> {
  const { client, spec, fixture, bodyFixture = fixture } = input
  const guard = spec.guard === undefined ? undefined : { 'if-match': '*' }
  const path = pathOf(spec, fixture) + queryOf(spec, bodyFixture)
  const payload = payloadOf(spec, bodyFixture)
  return client.call(spec.method, path, { ...payload, headers: { ...payload.headers, ...guard } })
}

type FormHeaders = ReturnType<typeof form>['headers']

/** The parts of the form of a valid call. */
export function partsOf(spec: Route, fixture: Fixture): Part[] {
  const fields = Object.entries(bodyOf(spec, fixture)).map(([name, value]) => ({ name, bytes: String(value) }))
  return [...fields, { name: spec.multipart?.file ?? '', filename: 'a.png', type: 'image/png', bytes: samples.png }]
}

type Keywords = {
  anyOf?: TSchema[]
  const?: unknown
  enum?: unknown[]
  type?: string
  pattern?: string
  minLength?: number
  minimum?: number
  minItems?: number
  items?: TSchema
  properties?: TObject['properties']
  required?: string[]
}

function exampleOf(input: { spec: Route; schema: TSchema | undefined; fixture: Fixture }): unknown {
  const { spec, fixture } = input
  const schema: Keywords = input.schema ?? { type: 'object' }
  const inner = (part: TSchema) => exampleOf({ spec, schema: part, fixture })
  if (schema.anyOf?.[0] !== undefined) return inner(schema.anyOf[0])
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => inner(schema.items ?? {}))
  if (schema.type === 'object') return objectOf({ ...input, schema, inner })
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'null') return null
  if (schema.type === 'string' && schema.pattern === undefined) return 'x'.repeat(Math.max(1, schema.minLength ?? 1))
  throw new Error(
    `${spec.operationId}: no example for ${JSON.stringify(schema)}; name the member in test/contract/fixtures.ts`,
  )
}

function objectOf(input: {
  spec: Route
  schema: Keywords
  inner: (part: TSchema) => unknown
  fixture: Fixture
}): unknown {
  const { spec, schema, inner, fixture } = input
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const known = memberValues[name]
    if (known !== undefined) return [[name, known(fixture, spec)]]
    return schema.required?.includes(name) ? [[name, inner(member)]] : []
  })
  return Object.fromEntries(members)
}

async function created(owner: Client, path: string, body: object): Promise<{ id: never }> {
  const reply = await owner.post(path, body)
  if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}
