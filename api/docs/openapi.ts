import { oauthPaths } from '../../shared/auth/oauth/paths.ts'
import { scopeDescriptions, scopes } from '../../shared/auth/scopes.ts'
import { apiPrefix, type Route } from '../http/route.ts'
import { guideChapters, type RouteTag, tags } from '../http/tags.ts'
import { envelopeSchemas, headers, parameters, sharedResponses } from './openapi/components.ts'
import { operationOf } from './openapi/operation.ts'
import { errorResponse } from './openapi/responses.ts'
import { schemaRegistry } from './openapi/schemas.ts'

/** The version of the OpenAPI description. */
export const descriptionVersion = '1.10.0'

const introduction = [
  'Every 2xx answer in JSON carries its result as `data` beside `request_id`; every error carries `error` beside',
  '`request_id`, and its `code` is what clients branch on. Every GET but the event stream also serves HEAD; OPTIONS',
  'names the methods of a path. Unknown query parameters and unknown members of bodies are ignored, but `dry_run=true`',
  'is refused where no rehearsal is offered. Times are Unix milliseconds; lengths of strings count Unicode code points.',
  'An operation with `x-extension: true` is an extension: this service offers it beyond this version of the interface,',
  'by the same rules.',
].join(' ')

// Where agents and programs find more than this description.
const surroundings = (origin: string) =>
  [
    `Agents call the same operations as tools of the Model Context Protocol at ${origin}/mcp (${origin}/guide/mcp).`,
    `There is a typed client for JavaScript and TypeScript (${origin}/guide/programs), and a command line`,
    `(${origin}/guide/command-line).`,
  ].join(' ')

const bearer = {
  type: 'http',
  scheme: 'bearer',
  description: `An API token, \`svc_tok_<id>_<secret>\`. Its scopes are among ${scopes
    .map((scope) => `\`${scope}\``)
    .join(', ')}; the role in the workspace counts as well.`,
}

// The authorization server that issues tokens of the same kind to programs.
function oauth2Of(origin: string): object {
  const authorizationCode = {
    authorizationUrl: origin + oauthPaths.authorize,
    tokenUrl: origin + oauthPaths.token,
    refreshUrl: origin + oauthPaths.token,
    scopes: scopeDescriptions,
  }
  const description = `OAuth 2.1 with PKCE, described by ${origin}/.well-known/oauth-authorization-server.`
  return { type: 'oauth2', description, flows: { authorizationCode } }
}

/** The OpenAPI 3.1 description of the route table. `origin` is the public origin of the service. */
export function describeApi(input: { routes: readonly Route[]; origin: string }): object {
  const listed = input.routes.filter((spec) => spec.listed !== 'reference')
  const registry = schemaRegistry()
  const paths = Object.fromEntries(
    [...Map.groupBy(listed, (spec) => spec.path)].map(([path, specs]) => [
      path,
      Object.fromEntries(specs.map((spec) => [spec.method.toLowerCase(), operationOf(spec, registry)])),
    ]),
  )
  const responses = Object.entries(sharedResponses).map(([name, { status, codes }]) => [
    name,
    errorResponse({ status, codes, registry }),
  ])
  const used = new Set(listed.map((spec) => spec.tag))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Knowledge Base Documents Service',
      version: descriptionVersion,
      summary: 'Knowledge bases of folders and documents that people and programs edit.',
      description: `${introduction}\n\n${surroundings(input.origin)}`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { description: 'Narrative reference', url: `${input.origin}/api-docs.md` },
    servers: [{ url: `${input.origin}${apiPrefix}`, description: 'This service' }],
    security: [{ bearer: [] }, { oauth2: [] }],
    tags: (Object.entries(tags) as [RouteTag, string][]).flatMap(([name, description]) => {
      const externalDocs = { description: 'Guide', url: `${input.origin}/guide/${guideChapters[name]}` }
      return used.has(name) ? [{ name, description, externalDocs }] : []
    }),
    paths,
    components: {
      securitySchemes: { bearer, oauth2: oauth2Of(input.origin) },
      schemas: { ...registry.components(), ...envelopeSchemas },
      parameters,
      headers,
      responses: Object.fromEntries(responses),
    },
  }
}
