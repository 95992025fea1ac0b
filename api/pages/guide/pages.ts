import { createHash } from 'node:crypto'
import { hasVersion } from '../../http/preconditions.ts'
import { pageHeaders } from '../headers.ts'
import { type PageCall, page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { type ChapterName, chapterMarkdown, chapterNames, chapterPath, renderChapter } from './chapters.ts'

type Neighbour = { path: string; title: string }
type GuideData = { html: string; markdownPath: string; previous: Neighbour | null; next: Neighbour | null }

const guideView = view<GuideData>('guide')

/** A text as it is sent. `version` is the digest of its bytes, for the ETag. */
type Text = { type: string; bytes: Buffer; version: string }

/** The texts that were asked for before, by path. Only paths that name a chapter are kept. */
const texts = new Map<string, Text>()

/** The first page of the guide for people who call the API: what the service is, and a map of the chapters. */
export const guidePage = page({
  path: '/guide',
  get: async (call) =>
    sendText(
      call,
      textOf('/guide', () => chapterPage('index')),
    ),
})

/**
 * A chapter of the guide: `/guide/writes` is HTML for people, `/guide/writes.md` is Markdown for programs that read.
 */
export const guideChapterPage = page({
  path: '/guide/{chapter}',
  async get(call) {
    const [, name, ending] = /^([a-z-]+)(\.md)?$/.exec(call.params['chapter'] ?? '') ?? []
    const chapter = chapterNames.find((candidate) => candidate === name)
    if (chapter === undefined) throw pageMissing()
    if (ending === undefined && chapter === 'index') return { location: '/guide' }
    const text = textOf(`/guide/${name}${ending ?? ''}`, () =>
      ending === undefined ? chapterPage(chapter) : markdownText(chapter),
    )
    return sendText(call, text)
  },
})

function textOf(path: string, make: () => Omit<Text, 'version'>): Text {
  let text = texts.get(path)
  if (text === undefined) {
    const made = make()
    text = { ...made, version: `sha256:${createHash('sha256').update(made.bytes).digest('hex')}` }
    texts.set(path, text)
  }
  return text
}

function markdownText(chapter: ChapterName): Omit<Text, 'version'> {
  return { type: 'text/markdown; charset=utf-8', bytes: Buffer.from(chapterMarkdown(chapter)) }
}

function chapterPage(chapter: ChapterName): Omit<Text, 'version'> {
  const { title, html } = renderChapter(chapterMarkdown(chapter))
  const index = chapterNames.indexOf(chapter)
  const previous = neighbour(chapterNames[index - 1])
  const next = neighbour(chapterNames[index + 1])
  const frame = { title, bare: true, markdownPath: `/guide/${chapter}.md` }
  return { type: 'text/html; charset=utf-8', bytes: Buffer.from(guideView({ ...frame, html, previous, next })) }
}

function neighbour(chapter: ChapterName | undefined): Neighbour | null {
  if (chapter === undefined) return null
  const [, title = chapter] = /^# (.+)$/m.exec(chapterMarkdown(chapter)) ?? []
  return { path: chapterPath(chapter), title }
}

// The texts change only with the version of the service. So clients may cache them and ask whether they are current.
function sendText({ request, response }: PageCall, { type, bytes, version }: Text): undefined {
  response.set({ ...pageHeaders(), 'Cache-Control': 'no-cache', ETag: `"${version}"` })
  if (hasVersion(request, version)) response.status(304).end()
  else response.type(type).send(bytes)
}
