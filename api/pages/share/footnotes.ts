import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import type { HtmlWriter } from '../../../shared/body/html.ts'
import { element, escapeHtml, stringAttribute } from '../../../shared/body/html-elements.ts'
import { directionOf } from './direction.ts'

type Footnote = { number: number; definition: BodyNode; references: number }

/**
 * The footnotes of a page, numbered in the order of their first references. Footnotes without a reference come last.
 * The ids of footnotes contain a colon, so that they differ from the ids of headings.
 */
export class Footnotes {
  readonly #definitions = new Map<string, BodyNode>()
  readonly #unlabelled: BodyNode[] = []
  readonly #byLabel = new Map<string, Footnote>()
  readonly #shown: Footnote[] = []

  constructor(document: DocNode) {
    for (const definition of definitionsIn(document)) {
      const label = key(stringAttribute(definition, 'label') ?? '')
      if (this.#definitions.has(label)) this.#unlabelled.push(definition)
      else this.#definitions.set(label, definition)
    }
  }

  /** A reference as a link to its footnote, or as its label if the document does not define the footnote. */
  reference(label: string): string {
    const footnote = this.#footnote(key(label))
    if (footnote === null) return element('sup', {}, escapeHtml(`[${label}]`))
    footnote.references += 1
    const { number, references } = footnote
    const link = {
      id: referenceId(number, references),
      href: `#fn:${number}`,
      role: 'doc-noteref',
      'aria-label': `Footnote ${number}`,
    }
    return element('sup', { class: 'noteref', dir: 'ltr' }, element('a', link, String(number)))
  }

  /**
   * All footnotes with links back to their references; empty when there are none. This method must be called last,
   * after all calls of `reference`.
   */
  section(writer: HtmlWriter): string {
    const texts: string[] = []
    const writeShown = () => {
      // A footnote may refer to another footnote, which adds the other footnote to `#shown` during the loop.
      while (texts.length < this.#shown.length) {
        texts.push(writer.inside((this.#shown[texts.length] as Footnote).definition))
      }
    }
    writeShown()
    for (const label of this.#definitions.keys()) {
      this.#footnote(label)
      writeShown()
    }
    for (const definition of this.#unlabelled) {
      this.#add(definition)
      writeShown()
    }
    if (texts.length === 0) return ''
    const items = this.#shown.map((footnote, index) => {
      const own = { id: `fn:${footnote.number}`, dir: directionOf(footnote.definition) }
      return element('li', own, withLinks(texts[index] as string, footnote))
    })
    const title = '<h2 lang="en"><bdi>Footnotes</bdi></h2>'
    return `<section class="footnotes" role="doc-endnotes" aria-label="Footnotes">${title}<ol>${items.join('\n')}</ol></section>\n`
  }

  #footnote(label: string): Footnote | null {
    const known = this.#byLabel.get(label)
    if (known !== undefined) return known
    const definition = this.#definitions.get(label)
    if (definition === undefined) return null
    const footnote = this.#add(definition)
    this.#byLabel.set(label, footnote)
    return footnote
  }

  #add(definition: BodyNode): Footnote {
    const footnote = { number: this.#shown.length + 1, definition, references: 0 }
    this.#shown.push(footnote)
    return footnote
  }
}

// The form in which labels are compared, because Markdown compares them without regard to case.
function key(label: string): string {
  return label.toLowerCase().trim()
}

function referenceId(number: number, occurrence: number): string {
  return occurrence === 1 ? `fnref:${number}` : `fnref:${number}:${occurrence}`
}

// Adds the links back to the references. The links are at the end of the last paragraph, because a reader of the
// footnote ends there.
function withLinks(html: string, { number, references }: Footnote): string {
  const links = Array.from({ length: references }, (_, index) => {
    const label = references === 1 ? `Back to reference ${number}` : `Back to reference ${number}-${index + 1}`
    const text = references === 1 ? '↩' : `↩<sup>${index + 1}</sup>`
    const link = { href: `#${referenceId(number, index + 1)}`, role: 'doc-backlink', 'aria-label': label }
    return ` ${element('a', link, `<bdi>${text}</bdi>`)}`
  }).join('')
  if (links === '') return html
  return html.endsWith('</p>') ? `${html.slice(0, -'</p>'.length)}${links}</p>` : `${html}<p>${links}</p>`
}

function* definitionsIn(node: BodyNode | DocNode): Generator<BodyNode> {
  for (const child of node.content ?? []) {
    if (child.type === 'footnoteDefinition') yield child
    yield* definitionsIn(child)
  }
}
