import { describeMarkdown } from '../../shared/body/markdown/accepted.ts'
import { describeNodes } from '../../shared/body/published-schema.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Route } from '../http/route.ts'
import { guideChapters, type RouteTag, tags } from '../http/tags.ts'
import { curlOf } from './openapi/examples.ts'
import { type JsonSchema, schemaRegistry } from './openapi/schemas.ts'
import { descriptionVersion } from './openapi.ts'
import { conventions } from './reference/conventions.ts'
import { endpointText } from './reference/endpoint.ts'
import { errorTable } from './reference/errors.ts'
import { shapeText } from './reference/shapes.ts'

/** A reference for people, in reading order; every text is Markdown. */
export type Reference = { title: string; text: string; chapters: readonly Chapter[] }

/** A chapter: its prose, whose headings start at the third level, then its entries. */
export type Chapter = { title: string; text: string; entries: readonly Entry[] }

/**
 * An entry of a chapter: an endpoint with its `route`, or a named schema of the description, for which `route` is null.
 */
export type Entry = { title: string; text: string; route: Route | null }

/** A chapter in prose that a noun adds, such as the node table of bodies; its headings start at the third level. */
export type ReferenceSection = { title: string; markdown: string }

/** An input from which a reference is made. Without `sections`, the reference gets the sections in `ownSections`. */
export type ReferenceInput = { routes: readonly Route[]; config: Config; sections?: readonly ReferenceSection[] }

/** The version of the reference. The reference states it beside the version of the OpenAPI description. */
const referenceVersion = '1.9.0'

const ownSections: readonly ReferenceSection[] = [
  { title: 'Bodies', markdown: describeNodes() },
  { title: 'Markdown', markdown: describeMarkdown() },
]

/** The reference in parts: conventions in prose, every error, every endpoint, and every named schema. */
export function describeReference(input: ReferenceInput): Reference {
  const { routes, config, sections = ownSections } = input
  const listed = routes.filter((spec) => spec.listed !== 'openapi')
  const registry = schemaRegistry()
  const endpoints = (Object.entries(tags) as [RouteTag, string][]).flatMap(([title, description]) => {
    const specs = listed.filter((spec) => spec.tag === title)
    const entries = specs.map((route) => ({
      title: `${route.method} ${route.path}`,
      text: endpointText(route, registry),
      route,
    }))
    const guide = `How it behaves is explained in the [guide](/guide/${guideChapters[title]}.md).`
    return specs.length === 0 ? [] : [{ title, text: `${description} ${guide}`, entries }]
  })
  return {
    title: 'Knowledge Base Documents Service',
    text: [
      `This is narrative reference ${referenceVersion}; interface description ${descriptionVersion} prevails.`,
      `The interface description is \`${config.PUBLIC_ORIGIN}/api/openapi.json\` (OpenAPI 3.1).`,
      [
        `Agents call the same endpoints as [tools over MCP](/guide/mcp.md), at \`${config.PUBLIC_ORIGIN}/mcp\`.`,
        'Programs in JavaScript and TypeScript have a [typed client](/guide/programs.md), and people and scripts a',
        '[command line](/guide/command-line.md).',
      ].join(' '),
      'This reference lists what there is. The [guide](/guide/index.md) explains how it behaves, chapter by chapter.',
    ].join('\n\n'),
    chapters: [
      ...conventions(config).map((convention) => ({ ...convention, entries: [] })),
      { title: 'Errors', text: errorTable(), entries: [] },
      ...endpoints,
      ...sections.map(({ title, markdown }) => ({ title, text: markdown.trim(), entries: [] })),
      { title: 'Shapes', text: '', entries: shapesOf(registry.components()) },
    ],
  }
}

/** The reference as one Markdown text, `/api-docs.md`. */
export function writeReference(input: ReferenceInput): string {
  const { title, text, chapters } = describeReference(input)
  const parts = chapters.flatMap(({ title, text, entries }) => [
    `## ${title}`,
    text,
    sampleOf(entries.flatMap(({ route }) => route ?? [])),
    ...entries.flatMap((entry) => [`### ${entry.title}`, entry.text]),
  ])
  return `${[`# ${title}`, text, ...parts].filter(Boolean).join('\n\n')}\n`
}

function shapesOf(components: Record<string, JsonSchema>): Entry[] {
  return Object.entries(components).map(([title, schema]) => ({ title, text: shapeText(schema), route: null }))
}

// A sample call for a chapter, as a block of Markdown; empty where no call was recorded. The sample is a write if the
// chapter has a write, because a write shows a body and a precondition.
function sampleOf(specs: readonly Route[]): string {
  const [written, read] = [specs.filter(({ body }) => body !== undefined), specs]
  const [line] = [...written, ...read].flatMap((spec) => curlOf(spec) ?? [])
  return line === undefined ? '' : `\`\`\`sh\n${line}\n\`\`\``
}
