import GithubSlugger from 'github-slugger'
import type { BlockNode, BodyNode, DocNode } from '../../../shared/body/document.ts'
import { alignment, type HtmlWriter } from '../../../shared/body/html.ts'
import { element, escapeHtml, numberAttribute } from '../../../shared/body/html-elements.ts'
import { headingPathEntry, headingTitle } from '../../../shared/body/outline.ts'

/** A heading on the page. `id` is null when the heading has no words; `rank` is 2 to 6, for the elements h2 to h6. */
type Heading = { id: string | null; rank: number; title: string }

/**
 * The headings of a page. The ids of headings are the anchors that GitHub gives them, so links such as `#first-steps`
 * work as on GitHub. The title of the page is the only h1, and no rank is skipped, so that screen readers can go from
 * heading to heading.
 */
export class PageHeadings {
  readonly #headings = new Map<BodyNode, Heading>()
  readonly #listed: Heading[] = []

  constructor(document: DocNode) {
    const slugger = new GithubSlugger()
    const levels: number[] = []
    for (const node of headingsIn(document)) {
      const level = numberAttribute(node, 'level') ?? 1
      while ((levels.at(-1) ?? 0) >= level) levels.pop()
      levels.push(level)
      const words = (node.content ?? []).filter(({ type }) => type !== 'footnoteReference')
      const title = headingPathEntry(headingTitle({ ...node, content: words } as BlockNode))
      const id = slugger.slug(title) || null
      this.#headings.set(node, { id, rank: Math.min(levels.length + 1, 6), title })
    }
    for (const node of document.content) {
      const heading = this.#headings.get(node)
      if (heading !== undefined && heading.id !== null && heading.rank <= 4) this.#listed.push(heading)
    }
  }

  /** A heading with its id and a link to itself. */
  write(node: BodyNode, writer: HtmlWriter): string {
    const { id, rank } = this.#headings.get(node) as Heading
    const link = { class: 'anchor', href: `#${id}`, 'aria-hidden': 'true', tabindex: -1 }
    const inner = writer.inside(node) + (id === null ? '' : ` ${element('a', link, '#')}`)
    return element(`h${rank}`, { ...writer.blockAttributes(node), id, style: alignment(node) }, inner)
  }

  /** The headings at the top level of the document with ranks 2 to 4, as links; empty when there are fewer than two. */
  contents(): string {
    if (this.#listed.length < 2) return ''
    const items = this.#listed.map(({ id, rank, title }) =>
      element('li', { class: `rank-${rank}` }, element('a', { href: `#${id}` }, `<bdi>${escapeHtml(title)}</bdi>`)),
    )
    const title = '<p class="eyebrow" lang="en"><bdi>Contents</bdi></p>'
    return `<nav class="contents" aria-label="Contents">${title}<ol>${items.join('\n')}</ol></nav>`
  }
}

function* headingsIn(node: BodyNode | DocNode): Generator<BodyNode> {
  for (const child of node.content ?? []) {
    if (child.type === 'heading') yield child
    else yield* headingsIn(child)
  }
}
