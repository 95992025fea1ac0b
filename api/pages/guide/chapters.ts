import { readFileSync } from 'node:fs'
import type { BlockNode, BodyNode, DocNode, Mark } from '../../../shared/body/document.ts'
import { fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import { headingTitle } from '../../../shared/body/outline.ts'
import { pageHtml } from '../share/page-html.ts'

/** The chapters of the guide in the order in which people read them; each is `api/guide/<name>.md`. */
export const chapterNames = [
  'index',
  'requests',
  'authentication',
  'writes',
  'idempotency',
  'documents',
  'blocks',
  'markdown',
  'attachments',
  'trash',
  'search',
  'changes',
  'events',
  'collaboration',
  'mcp',
  'relations',
  'concepts',
  'summaries',
  'translation',
  'jobs',
  'errors',
  'limits',
  'programs',
  'command-line',
  'configuration',
  'deployment',
  'monitoring',
  'maintenance',
] as const

/** Name of a chapter; `index` is the first page of the guide. */
export type ChapterName = (typeof chapterNames)[number]

/** A chapter as people read it: its title, and its text as HTML that is safe to put into a page. */
export type RenderedChapter = { title: string; html: string }

/** The Markdown of a chapter, for programs that read the guide. */
export function chapterMarkdown(name: ChapterName): string {
  return readFileSync(new URL(`../../guide/${name}.md`, import.meta.url), 'utf8')
}

/** The address of a chapter on the service, as HTML. */
export function chapterPath(name: ChapterName): string {
  return name === 'index' ? '/guide' : `/guide/${name}`
}

/**
 * Renders a chapter like a shared document: its Markdown becomes a body, and the body becomes HTML. So headings have
 * the anchors that GitHub gives them. The first heading is the title. Links to other chapters lead to their HTML pages.
 */
export function renderChapter(markdown: string): RenderedChapter {
  const [first, ...content] = fromMarkdown(markdown).result.content
  const document = { type: 'doc', content: content.map(forPage) } as DocNode
  return { title: headingTitle(first as BlockNode), html: pageHtml(document) }
}

// Removes block ids and adapts links. Parsing makes new block ids each time. Without ids, the page of a chapter has the
// same version in every process.
function forPage({ attrs, content, marks, ...node }: BodyNode): BodyNode {
  const { id: _, ...shown } = attrs ?? {}
  return {
    ...node,
    attrs: shown,
    ...(content && { content: content.map(forPage) }),
    ...(marks && { marks: marks.map(withPageLink) }),
  }
}

function withPageLink(mark: Mark): Mark {
  return mark.type === 'link'
    ? { ...mark, attrs: { ...mark.attrs, href: pageLink(String(mark.attrs?.['href'])) } }
    : mark
}

function pageLink(href: string): string {
  const [, name, anchor = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? []
  const chapter = chapterNames.find((candidate) => candidate === name)
  if (chapter !== undefined) return chapterPath(chapter) + anchor
  return href.replace(/^\/api-docs\.md(?=$|#error-)/, '/api-docs')
}
