import type { TObject, TSchema } from 'typebox'
import type { ParameterMarks } from '../../api/http/input.ts'
import type { Route } from '../../api/http/route.ts'
import { form, type Part, samples } from '../support/attachments.ts'
import type { Client, Reply } from '../support/client.ts'
import { type Fixture, makersOf } from './resources.ts'

/** A service on which jobs can be requested; no worker ever runs them. */
export const withModel = {
  OPENAI_API_KEY: 'key',
  OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  SUMMARY_MODEL: 'model',
  TRANSLATION_MODEL: 'model',
}

/**
 * Creates the resources of a fixture in the owner's workspace. The service must come from `withModel`. With `spec`,
 * only those resources are created that a valid call of the route names, and all of them if the route changes what is
 * in a knowledge base, folder or document. Reading another member of the fixture throws then.
 */
export async function createFixture(owner: Client, spec?: Route): Promise<Fixture> {
  const makers = makersOf(owner)
  const all = Object.keys(makers) as (keyof Fixture)[]
  const named = spec === undefined ? 'all' : namesIn(spec)
  const fixture: Partial<Fixture> = {}
  for (const name of all) {
    if (named === 'all' || named.has(name)) Object.assign(fixture, { [name]: await makers[name]() })
    else Object.defineProperty(fixture, name, { get: () => missing(name) })
  }
  return fixture as Fixture
}

function missing(name: string): never {
  throw new Error(`no call of this route names ${name}, so the fixture is without it`)
}

// The members of a fixture that a valid call of a route names; `all` for a route that changes contents.
function namesIn(spec: Route): Set<string> | 'all' {
  const names = new Set<string>()
  const noting = new Proxy({} as Fixture, {
    get(_, name) {
      names.add(String(name))
      return 'noted'
    },
  })
  pathOf(spec, noting)
  if (names.has('knowledgeBaseId') || names.has('folderId') || contentsOfDocuments.test(spec.path)) return 'all'
  if (/translation|localization/.test(spec.path)) names.add('locale')
  queryOf(spec, noting)
  payloadOf(spec, noting)
  return names
}

// The paths of documents as a whole, and of several documents.
const contentsOfDocuments = /^\/documents\/(\{id\}|\w+)$/

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
  locale: ({ locale }) => locale,
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
  target_locale: ({ locale }) => locale,
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
    if (known !== undefined && (member as Keywords).enum === undefined) return [[name, known(fixture, spec)]]
    return schema.required?.includes(name) ? [[name, inner(member)]] : []
  })
  return Object.fromEntries(members)
}
