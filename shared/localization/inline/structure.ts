import { canonicalJson } from '../../body/canonical.ts'
import type { Attrs, BodyNode, Json, Mark } from '../../body/document.ts'
import { sameMark } from '../../body/marks.ts'

/**
 * Returns a key for everything that a translation has to keep. The key names each stretch of a mark, each link with its
 * address, each code with its text, and each node that is not text. Languages order words differently, so the key
 * ignores the order. It ignores the alternative text of images, too. Two contents with equal keys differ only in their
 * words and order.
 */
export function structureOf(content: readonly BodyNode[]): string {
  const parts: string[] = []
  for (const [index, node] of content.entries()) {
    if (node.type !== 'text') parts.push(`${node.type} ${attributes({ ...node.attrs, alt: null })}`)
    for (const mark of node.marks ?? []) {
      if (carries(content[index - 1], mark)) continue
      parts.push(
        `mark ${mark.type} ${attributes(mark.attrs ?? {})}${mark.type === 'code' ? codeAt(content, index) : ''}`,
      )
    }
  }
  return parts.sort().join('\n')
}

/**
 * Returns the texts of inline content in one line. Every other node, and all white space between words, becomes a
 * space.
 */
export function wordsOf(content: readonly BodyNode[]): string {
  return content
    .map((node) => (node.type === 'text' ? node.text : ' '))
    .join('')
    .replace(/\s+/gu, ' ')
    .trim()
}

/**
 * Restores the attributes of links and images that Markdown cannot express: target, rel, sizes, titles. The attributes
 * come from the original. Links or images with the same address take them in their order.
 */
export function withAttributesOf(original: readonly BodyNode[], content: readonly BodyNode[]): BodyNode[] {
  const links = new Pool(linksOf(original).map((mark) => [String(mark.attrs?.href), mark]))
  const images = new Pool(
    original.filter(({ type }) => type === 'inlineImage').map((node) => [String(node.attrs?.src), node]),
  )
  let before: { read: Mark; given: Mark } | undefined
  return content.map((node) => {
    const link = node.marks?.find(({ type }) => type === 'link')
    if (link === undefined) before = undefined
    else if (before === undefined || !sameMark(before.read, link)) {
      before = { read: link, given: links.take(String(link.attrs?.href)) ?? link }
    }
    const given = before?.given
    const marks = node.marks?.map((mark) => (mark.type === 'link' && given !== undefined ? given : mark))
    const image = node.type === 'inlineImage' ? images.take(String(node.attrs?.src)) : undefined
    const attrs = image === undefined ? node.attrs : { ...image.attrs, alt: node.attrs?.alt ?? '' }
    return { ...node, ...(attrs && { attrs }), ...(marks && { marks }) }
  })
}

/**
 * A store of values by key. Values of the same key are taken in their order. When all have been taken, the last value
 * is returned again.
 */
class Pool<T> {
  readonly #byKey = new Map<string, { things: T[]; taken: number }>()

  constructor(entries: readonly (readonly [string, T])[]) {
    for (const [key, thing] of entries) {
      const known = this.#byKey.get(key)
      if (known === undefined) this.#byKey.set(key, { things: [thing], taken: 0 })
      else known.things.push(thing)
    }
  }

  take(key: string): T | undefined {
    const known = this.#byKey.get(key)
    if (known === undefined) return undefined
    known.taken += 1
    return known.things[Math.min(known.taken, known.things.length) - 1]
  }
}

function linksOf(content: readonly BodyNode[]): Mark[] {
  return content.flatMap((node, index) =>
    (node.marks ?? []).filter((mark) => mark.type === 'link' && !carries(content[index - 1], mark)),
  )
}

function carries(node: BodyNode | undefined, mark: Mark): boolean {
  return node?.marks?.some((other) => sameMark(other, mark)) ?? false
}

function codeAt(content: readonly BodyNode[], from: number): string {
  let text = ''
  for (let index = from; ; index += 1) {
    const node = content[index]
    if (!node?.marks?.some(({ type }) => type === 'code')) return ` ${text.replace(/\s+/g, ' ')}`
    text += node.text ?? ''
  }
}

function attributes(attrs: Attrs): string {
  const named = Object.entries(attrs).filter(([, value]) => value !== null && value !== '')
  return canonicalJson(Object.fromEntries(named) as Json)
}
