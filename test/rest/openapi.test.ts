import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import Type from 'typebox'
import { describeApi } from '../../api/docs/openapi.ts'
import { writeReference } from '../../api/docs/reference.ts'
import { type Route, route } from '../../api/http/route.ts'
import { tags } from '../../api/http/tags.ts'
import { routes } from '../../api/routes/routes.ts'
import { readConfig } from '../../shared/config/config.ts'
import { errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import { Text, TrimmedText } from '../../shared/schema/strings.ts'
import { Client } from '../support/client.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'
import { typeErrors } from '../support/type-errors.ts'

const run = promisify(execFile)
const redocly = join(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js')

t.test('the description of every endpoint passes the recommended rules of OpenAPI linters', async (t) => {
  const description = describeApi({ routes, origin: 'https://documents.acme.test' })
  t.same(await lint(t, description), [])
})

t.test('recursive schemas, guards and rare media types are described by valid OpenAPI as well', onlyLong, async (t) => {
  t.same(await lint(t, describeApi({ routes: specimens, origin: 'https://documents.acme.test' })), [])
})

t.test('anyone reads the description and the reference without a token', async (t) => {
  const { origin } = await sharedService({ PUBLIC_ORIGIN: 'https://documents.acme.test' })
  const client = new Client({ origin })
  const description = await client.get('//api/openapi.json')
  t.equal(description.status, 200)
  t.equal(description.headers.get('content-type'), 'application/json; charset=utf-8')
  t.equal(description.body.openapi, '3.1.0')
  t.equal(description.body.info.version, '1.10.0')
  t.equal(description.body.servers[0].url, 'https://documents.acme.test/api/v1')
  const reference = await client.get('//api-docs.md')
  t.equal(reference.status, 200)
  t.equal(reference.headers.get('content-type'), 'text/markdown; charset=utf-8')
  t.match(reference.text, 'narrative reference 1.9.0; interface description 1.10.0 prevails')
  for (const { path, listed } of routes) if (listed !== 'openapi') t.match(reference.text, path)
  for (const member of ['score_explanation.terms[].term', 'page.next_cursor', 'coverage.ratio', '`replace`']) {
    t.match(reference.text, member, `${member} is described`)
  }
  t.match(reference.text, 'Also served as `PATCH /documents/{id}/translations/{targetDocId}`')
  t.equal(reference.text.match(/^curl /gm)?.length, Object.keys(tags).length, 'a call of every noun for the shell')
  t.match(reference.text, /\n## Documents\n[^`]+```sh\ncurl -X POST /, 'a write, which shows a body')
  t.match(reference.text, '| `taskItem` | yes | `paragraph block*` |', 'the node table of bodies is published')
})

t.test('every endpoint of the table is described with its scopes, errors and headers', async (t) => {
  const description = describeApi({ routes, origin: 'https://documents.acme.test' }) as Description
  for (const spec of routes.filter(({ listed }) => listed !== 'reference')) {
    const operation = description.paths[spec.path]?.[spec.method.toLowerCase()]
    t.ok(operation, `${spec.method} ${spec.path}`)
    t.same(operation?.security, spec.access === 'anyone' ? [] : [{ bearer: spec.scopes }, { oauth2: spec.scopes }])
    const text = JSON.stringify([operation, description.components.responses])
    for (const code of spec.errors) t.match(text, `"${code}"`, `${spec.operationId} lists ${code}`)
  }
  const described = Object.values(description.paths).flatMap((path) => Object.values(path))
  const ids = described.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length, 'operation ids are unique')
})

t.test('nothing of how the service validates leaks into the description', async (t) => {
  const text = JSON.stringify(describeApi({ routes: [...routes, ...specimens], origin: 'https://acme.test' }))
  for (const leak of ['"~', '"x-error"', '"$id"', '"$defs"']) t.notMatch(text, leak)
})

t.test('named schemas become components, and a recursive one refers to itself', async (t) => {
  const { components, paths } = describeApi({ routes: specimens, origin: 'https://acme.test' }) as Description
  t.same(components.schemas['SpecimenNode'], {
    description: 'a node',
    type: 'object',
    required: ['type'],
    properties: {
      type: { type: 'string' },
      content: { type: 'array', items: { $ref: '#/components/schemas/SpecimenNode' } },
    },
  })
  t.same(components.schemas['Branch']?.properties['leaf'], { $ref: '#/components/schemas/Leaf' })
  t.same(components.schemas['Leaf']?.properties['back'], { $ref: '#/components/schemas/Branch' })
  const body = paths['/specimens/{id}']?.['put']?.requestBody.content['application/json'].schema
  t.same(body.properties.title, { type: 'string', minLength: 1, maxLength: 5 })
  t.match(body.properties.name.description, '1 to 200 characters after trimming')
  t.throws(
    () => describeApi({ routes: [specimen({ data: named(1) }), specimen({ data: named(2) })], origin: '' }),
    /two different schemas are called Same/,
  )
  t.throws(() => describeApi({ routes: [specimen({ data: Type.Ref('Nowhere') })], origin: '' }), /Nowhere/)
})

t.test('aliases stand in the reference alone, and prose can be added to it', async (t) => {
  const alias = { ...specimen({ data: Type.Null() }), path: '/alias', listed: 'reference' as const }
  const hidden = { ...specimen({ data: Type.Null() }), path: '/hidden', listed: 'openapi' as const }
  const table: Route[] = [alias, hidden]
  const { paths } = describeApi({ routes: table, origin: '' }) as Description
  t.same(Object.keys(paths), ['/hidden'])
  const sections = [{ title: 'Nodes of a body', markdown: '\nA paragraph.\n' }]
  const reference = writeReference({ routes: table, config: readConfig({ DATA_DIR: t.testdir() }), sections })
  t.match(reference, '### PUT /alias')
  t.notMatch(reference, '### PUT /hidden')
  t.match(reference, '## Nodes of a body\n\nA paragraph.\n\n')
})

t.test('a caller can tell an extension from what every service of this version offers', async (t) => {
  const extension = { ...specimen({ data: Type.Null() }), path: '/added', extension: true as const }
  const specified = { ...specimen({ data: Type.Null() }), path: '/specified' }
  const table: Route[] = [extension, specified]
  const { info, paths } = describeApi({ routes: table, origin: '' }) as Description
  t.equal(info.version, '1.10.0', 'an extension is no new version of the interface')
  t.match(paths, { '/added': { put: { 'x-extension': true } } })
  t.notHas(paths['/specified']?.['put'], 'x-extension')
  const reference = writeReference({ routes: table, config: readConfig({ DATA_DIR: t.testdir() }) })
  const [, added, rest] = reference.split(/^### PUT .*$/m)
  t.match(added, /is an \[extension\]\(#conventions\)/)
  t.notMatch(rest, /is an \[extension\]/)
  t.match(reference, 'Some endpoints are extensions')
})

t.test('the reference names every endpoint and every error code', async (t) => {
  const reference = writeReference({ routes, config: readConfig({ DATA_DIR: t.testdir() }) })
  for (const spec of routes.filter(({ listed }) => listed !== 'openapi')) {
    t.match(reference, `### ${spec.method} ${spec.path}\n`)
  }
  for (const [code, { message }] of Object.entries(errorCatalogue)) {
    t.ok(reference.includes(`| \`${code}\` |`) && reference.includes(message), code)
  }
})

t.test('a client generated from the description type-checks and works', onlyLong, async (t) => {
  const { origin, signUp } = await sharedService()
  const { token, email } = await signUp()
  const description = describeApi({ routes, origin })
  const schema = astToString(await openapiTS(description as never))
  const directory = t.testdir({ 'schema.ts': schema, 'program.ts': program })
  t.same(typeErrors([join(directory, 'program.ts')]), [[]])
  const { main } = await import(join(directory, 'program.ts'))
  t.match(await main({ origin, token }), { email, created: 'Handbook', code: 'knowledge_base_not_found', listed: 1 })
})

// A client as a third party writes it: all its types come from the description.
const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

export async function main(service: { origin: string; token: string }) {
  const client = createClient<paths>({
    baseUrl: service.origin + '/api/v1',
    headers: { authorization: 'Bearer ' + service.token },
  })
  const me = await client.GET('/me')
  const email: string | undefined = me.data?.data.user.email
  const made = await client.POST('/knowledge-bases', {
    body: { name: 'Handbook' },
    params: { header: { 'Idempotency-Key': 'once' } },
  })
  const base: components['schemas']['KnowledgeBase'] | undefined = made.data?.data
  const list = await client.GET('/knowledge-bases', { params: { query: { limit: 10 } } })
  const more: boolean | undefined = list.data?.page.has_more
  const missing = await client.GET('/knowledge-bases/{id}', { params: { path: { id: 999999 } } })
  const code: string | undefined = missing.error?.error.code
  // @ts-expect-error the name is required
  const refused = () => client.POST('/knowledge-bases', { body: {} })
  return { email, created: base?.name, code, listed: list.data?.data.length, more, refused: typeof refused }
}
`

type Operation = {
  operationId: string
  security: object[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into schemas of every shape
  requestBody: any
}

type Description = {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties: Record<string, unknown> }>; responses: object }
}

const specimenNode = Type.Object(
  { type: Type.String(), content: Type.Optional(Type.Array(Type.This())) },
  { $id: 'SpecimenNode', description: 'a node' },
)

const cyclic = Type.Cyclic(
  {
    Branch: Type.Object({ leaf: Type.Optional(Type.Ref('Leaf')) }),
    Leaf: Type.Object({ back: Type.Optional(Type.Ref('Branch')) }),
  },
  'Branch',
)

const specimens = [
  route({
    method: 'PUT',
    path: '/specimens/{id}',
    operationId: 'replaceSpecimen',
    tag: 'Content',
    summary: 'Replace a specimen',
    scopes: ['documents:write'],
    params: Type.Object({ id: Type.Integer({ minimum: 1, 'x-error': 'document_not_found' }) }),
    query: Type.Object({ annotate: Type.Optional(Type.Enum(['anchors'])) }),
    body: Type.Object({ title: Text({ min: 1, max: 5 }), name: TrimmedText({ min: 1, max: 200 }), node: specimenNode }),
    mediaTypes: ['application/vnd.svc.document+json'],
    guard: 'required',
    success: { status: 200, description: 'The specimen', data: specimenNode, etag: true },
    errors: ['document_not_found', 'invalid_node', 'document_too_large'],
    handle: async () => ({}),
  }),
  route({
    method: 'GET',
    path: '/specimens/{id}',
    operationId: 'getSpecimen',
    tag: 'Content',
    summary: 'Read a specimen',
    scopes: ['documents:read'],
    params: Type.Object({ id: Type.Integer({ minimum: 1, 'x-error': 'document_not_found' }) }),
    conditional: true,
    success: { status: 200, description: 'The specimen', data: cyclic, etag: true },
    errors: ['document_not_found'],
    handle: async () => ({}),
  }),
  route({
    method: 'POST',
    path: '/specimens',
    operationId: 'createSpecimen',
    tag: 'Content',
    summary: 'Create a specimen',
    scopes: ['documents:write'],
    body: Type.Object({ note: Type.Optional(Type.String()) }),
    success: { status: 201, description: 'The specimen', data: specimenNode, location: true },
    errors: [],
    handle: async () => ({}),
  }),
]

function specimen(options: { data: Type.TSchema }): Route {
  return route({
    method: 'PUT',
    path: `/${Math.random()}`,
    operationId: 'any',
    tag: 'Content',
    summary: 'Any',
    scopes: [],
    success: { status: 200, description: 'Any', data: options.data },
    errors: [],
    handle: async () => ({}),
  })
}

function named(constant: number): Type.TSchema {
  return Type.Object({ value: Type.Literal(constant) }, { $id: 'Same' })
}

/** The errors and warnings of Redocly's recommended rules, except unused components, which small route tables have. */
async function lint(t: Test, description: object): Promise<string[]> {
  const directory = t.testdir({ 'openapi.json': JSON.stringify(description) })
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const words = ['lint', 'openapi.json', '--extends=recommended', '--format=json', '--skip-rule=no-unused-components']
  const lints = run(process.execPath, [redocly, ...words], { cwd: directory, env })
  const { stdout } = await lints.catch((failure: { stdout: string }) => failure)
  const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string; location: object[] }[] }
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${JSON.stringify(location)}`)
}
