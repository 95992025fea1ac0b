import { setImmediate as otherWork } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import GithubSlugger from 'github-slugger'
import { micromark } from 'micromark'
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table'
import type { Config } from '../../../shared/config/config.ts'
import { curlOf, type ExampleCall, exampleCall } from '../../docs/openapi/examples.ts'
import type { Chapter, Entry, Reference } from '../../docs/reference.ts'
import { describeReference } from '../../docs/reference.ts'
import { routes } from '../../routes/routes.ts'
import { chapterPath } from '../guide/chapters.ts'
import { page } from '../page.ts'
import { view } from '../render.ts'

/** What the template shows: the reference with ids to link to, and its Markdown as HTML. */
export type ReferenceView = { heading: string; html: string; chapters: ChapterView[] }
export type ChapterView = { id: string; title: string; html: string; entries: EntryView[] }
export type EntryView = { id: string; title: string; method: string | null; path: string; html: string } & Example

/** A recorded call: its line for a shell, and the answer as indented JSON; null where there is none. */
type Example = { call: string | null; answer: string | null }

/**
 * The reference as HTML. Chapters and shapes have the ids that GitHub would give their headings, which links in the
 * texts lead to; an endpoint has `operation-` and its operation id. It takes a good part of a second, in pieces that
 * let other work go on.
 */
export async function referenceView({ title, text, chapters }: Reference): Promise<ReferenceView> {
  const slugger = new GithubSlugger()
  const views: ChapterView[] = []
  for (const chapter of chapters) views.push(await chapterView(chapter, slugger))
  return { heading: title, html: htmlOf(text), chapters: views }
}

async function chapterView({ title, text, entries }: Chapter, slugger: GithubSlugger): Promise<ChapterView> {
  const view: ChapterView = { id: slugger.slug(title), title, html: htmlOf(text), entries: [] }
  for (const entry of entries) {
    await otherWork()
    view.entries.push(entryView(entry, slugger))
  }
  return view
}

function entryView({ title, text, route }: Entry, slugger: GithubSlugger): EntryView {
  const html = htmlOf(text)
  if (route === null)
    return { id: slugger.slug(title), title, method: null, path: title, html, call: null, answer: null }
  const { operationId, method, path } = route
  return {
    id: `operation-${operationId}`,
    title,
    method,
    path,
    html,
    call: curlOf(route),
    answer: answerOf(exampleCall(operationId)),
  }
}

function answerOf(call: ExampleCall | undefined): string | null {
  return call?.answer === undefined ? null : JSON.stringify(call.answer, null, 2)
}

// The texts are those of the service itself; the only HTML in them is the anchors of errors.
function htmlOf(markdown: string): string {
  const withPages = markdown.replaceAll(/\]\(\/guide\/([a-z]+)\.md/g, (_, name) => `](${chapterPath(name)}`)
  return micromark(withPages, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()], allowDangerousHtml: true })
}

const apiDocsView = view<ReferenceView>('api-docs')

/** The reference of the API for people, the same for everybody; it is written when it is first asked for. */
export const apiDocsPage = page({
  path: '/api-docs',
  async get({ service, request, response }) {
    const { plain, gzipped } = await renderedReference(service.config)
    const isGzipped = request.acceptsEncodings('gzip') === 'gzip'
    response.type('text/html; charset=utf-8').set('Cache-Control', 'no-cache').vary('Accept-Encoding')
    if (isGzipped) response.set('Content-Encoding', 'gzip')
    response.end(isGzipped ? gzipped : plain)
    return undefined
  },
})

type Rendered = { plain: Buffer; gzipped: Buffer }

const rendered = new WeakMap<Config, Promise<Rendered>>()

function renderedReference(config: Config): Promise<Rendered> {
  const known = rendered.get(config) ?? render(config)
  rendered.set(config, known)
  return known
}

async function render(config: Config): Promise<Rendered> {
  const reference = await referenceView(describeReference({ routes, config }))
  const plain = Buffer.from(apiDocsView({ ...reference, title: 'API reference' }))
  return { plain, gzipped: await promisify(gzip)(plain) }
}
