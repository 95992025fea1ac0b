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

const apiDocsView = view<ReferenceView>('api-docs')

/**
 * The reference of the API as HTML, the same for everybody. The page is rendered when somebody first asks for the page.
 */
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

/** The data of the template: the reference with ids for links, and with HTML instead of Markdown. */
type ReferenceView = { heading: string; html: string; chapters: ChapterView[] }
type ChapterView = { id: string; title: string; html: string; entries: EntryView[] }
type EntryView = { id: string; title: string; method: string | null; path: string; html: string } & Example

/**
 * A recorded call as it is shown: a curl command, and the answer as indented JSON. Either is null where no call was
 * recorded.
 */
type Example = { call: string | null; answer: string | null }

// The reference as HTML. Chapters and named schemas have the ids that GitHub would give their headings, because links
// in the texts lead to these ids. The id of an endpoint is `operation-` and its operation id. Rendering takes a large
// part of a second, so other work of the event loop runs between the entries.
async function referenceView({ title, text, chapters }: Reference): Promise<ReferenceView> {
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

// Turns Markdown into HTML. HTML inside the Markdown is kept, which is safe: the texts come from the service itself,
// and have HTML only for the anchors of errors.
function htmlOf(markdown: string): string {
  const withPages = markdown.replaceAll(/\]\(\/guide\/([a-z]+)\.md/g, (_, name) => `](${chapterPath(name)}`)
  return micromark(withPages, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()], allowDangerousHtml: true })
}
