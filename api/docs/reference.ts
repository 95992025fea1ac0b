import type { Config } from '../../shared/config/config.ts'
import type { Route } from '../http/route.ts'
import { guideChapters, type Tag, tags } from '../http/tags.ts'
import { schemaRegistry } from './openapi/schemas.ts'
import { descriptionVersion } from './openapi.ts'
import { conventions } from './reference/conventions.ts'
import { curlOf } from './reference/curl.ts'
import { endpointEntry } from './reference/endpoint.ts'
import { errorTable } from './reference/errors.ts'
import { shapesOf } from './reference/shapes.ts'

/** A chapter in prose that a noun adds, such as the node table of bodies; its headings start at the third level. */
export type ReferenceSection = { title: string; markdown: string }

/** The version the narrative reference states as its own (decisions 9). */
const referenceVersion = '1.9.0'

/** The reference for people, `/api-docs.md`: conventions in prose, every error, every endpoint, every shape. */
export function writeReference(input: {
  routes: readonly Route[]
  config: Config
  sections?: readonly ReferenceSection[]
}): string {
  const { routes, config, sections = [] } = input
  const listed = routes.filter((spec) => spec.listed !== 'openapi')
  const registry = schemaRegistry()
  const endpoints = (Object.entries(tags) as [Tag, string][]).flatMap(([name, description]) => {
    const specs = listed.filter((spec) => spec.tag === name)
    if (specs.length === 0) return []
    const guide = `How it behaves is explained in the [guide](/guide/${guideChapters[name]}.md).`
    return [
      `## ${name}`,
      `${description} ${guide}`,
      sampleOf(specs),
      ...specs.map((spec) => endpointEntry(spec, registry)),
    ]
  })
  const chapters = [
    '# Knowledge Base Documents Service',
    `This is narrative reference ${referenceVersion}; interface description ${descriptionVersion} prevails.`,
    `The interface description is \`${config.PUBLIC_ORIGIN}/api/openapi.json\` (OpenAPI 3.1).`,
    'This reference lists what there is. The [guide](/guide/index.md) explains how it behaves, chapter by chapter.',
    ...conventions(config),
    '## Errors',
    errorTable(),
    ...endpoints,
    ...sections.flatMap(({ title, markdown }) => [`## ${title}`, markdown.trim()]),
    '## Shapes',
    shapesOf(registry.components()),
  ]
  return `${chapters.filter(Boolean).join('\n\n')}\n`
}

// A write shows more than a read: its body, and how it is guarded.
function sampleOf(specs: readonly Route[]): string {
  const [written, read] = [specs.filter(({ body }) => body !== undefined), specs]
  const [line] = [...written, ...read].flatMap((spec) => curlOf(spec) ?? [])
  return line === undefined ? '' : `\`\`\`sh\n${line}\n\`\`\``
}
