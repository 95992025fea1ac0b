import type { BodyNode } from '../../body/document.ts'
import { exportInline } from '../../body/markdown/export-inline.ts'
import { parseMarkdown } from '../../body/markdown/parse.ts'
import { writeFlow } from '../../body/markdown/processor.ts'
import { normaliseBlocks } from '../../body/normalise.ts'
import { Refusal } from '../../errors/errors.ts'
import { placeholdersOf } from './placeholders.ts'
import { structureOf, withAttributesOf, wordsOf } from './structure.ts'
import { type Tagged, withoutTags, withTags } from './tags.ts'

/** A Markdown text of inline content, with everything that is needed to read a translation of the text back. */
export type InlineMarkdown = { markdown: string; tagged: Omit<Tagged, 'content'>; original: readonly BodyNode[] }

/** Writes the inline content of several textblocks as Markdown, in one pass of the serialiser. */
export function inlineMarkdown(contents: readonly (readonly BodyNode[] | undefined)[]): string[] {
  const texts = contents.map((content) => proseOf(content ?? []))
  const rest = contents.flatMap((content, index) => (texts[index] === null ? [writing(content ?? [], false)] : []))
  const written = write(rest)
  return texts.map((text) => text ?? (written.shift() as string))
}

/**
 * Writes inline content as Markdown, and checks that the Markdown is read back as the same content. Returns null when
 * there is no such Markdown, for example for a line end within code.
 */
export function faithfulMarkdown(content: readonly BodyNode[]): InlineMarkdown | null {
  const text = proseOf(content)
  if (text !== null) return { markdown: text, tagged: { tags: [], name: 'x' }, original: content }
  for (const all of [false, true]) {
    const tagged = writing(content, all)
    const [markdown = ''] = write([tagged])
    const inline = { markdown, tagged, original: content }
    const back = translatedContent(inline, markdown)
    if (back !== null && wordsOf(back) === wordsOf(content)) return inline
  }
  return null
}

/**
 * Reads the translation of `inline` as inline content. Returns null unless the translation is one line of text with the
 * structure of the original: the same marks, links, code, images, math and mentions. The translation may be any text.
 */
export function translatedContent(inline: InlineMarkdown, translation: string): BodyNode[] | null {
  // A translation that is so much longer than its original is wrong, so it is not even parsed.
  if (translation.length > 2000 + 20 * inline.markdown.length) return null
  if (proseOf(inline.original) !== null && prose.test(translation)) {
    const content = [{ text: translation, type: 'text' }]
    return keepsPlaceholders(inline, content) ? content : null
  }
  try {
    const content = restored(inline, readLine(translation))
    if (content !== null || translation.includes(joiner)) return content
    const read = readLine(withFreeMarks(translation))
    return restored(inline, read && withoutJoiners(read))
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

function readLine(translation: string): BodyNode[] | null {
  return readInline(translation) ?? readInline(onOneLine(translation))
}

// Returns the content of a translation, or null when it has another structure than the original.
function restored(inline: InlineMarkdown, read: BodyNode[] | null): BodyNode[] | null {
  const untagged = read && withoutTags(read, inline.tagged)
  if (!untagged) return null
  const content = normalised(withAttributesOf(inline.original, normalised(untagged)))
  const isSame = structureOf(content) === structureOf(inline.original) && keepsPlaceholders(inline, content)
  return isSame && wordsOf(content) !== '' ? content : null
}

function keepsPlaceholders({ original }: InlineMarkdown, content: readonly BodyNode[]): boolean {
  return placeholdersOf(content) === placeholdersOf(original)
}

/*
 * Markdown reads `**` between punctuation and a letter as an opening or a closing sign alone, and often as the wrong
 * one in scripts without spaces: in `これは**重要（とても）**です` the bold does not end. A private character between the sign and
 * the punctuation lets the sign open and close.
 */
const joiner = '\uE000'
const besidePunctuation =
  /(?<=[^\s\\*~=](?<=[\p{P}\p{S}]))(\*{1,3}|~{1,2}|==)(?=[^\s\p{P}\p{S}])|(?<=[^\s\p{P}\p{S}])(\*{1,3}|~{1,2}|==)(?=[^\s\\*~=](?<=[\p{P}\p{S}]))/gu

function withFreeMarks(translation: string): string {
  return translation.replace(besidePunctuation, (_, behind: string | undefined, before: string | undefined) =>
    behind === undefined ? `${before}${joiner}` : `${joiner}${behind}`,
  )
}

function withoutJoiners(content: BodyNode[]): BodyNode[] {
  return JSON.parse(JSON.stringify(content).replaceAll(joiner, '')) as BodyNode[]
}

// Prose: letters and signs that mean nothing in Markdown. The Markdown of prose is the text itself, so most texts need
// no slow parser.
const prose = /^\p{L}(?:[\p{L}\p{M}\p{Nd} ,;'"()%–—’“”„…。、，-]|[.:!?](?= |$))*(?<! )$/u

// Returns the text of content that is nothing but prose, or null.
function proseOf(content: readonly BodyNode[]): string | null {
  const [only, ...others] = content
  if (only === undefined) return ''
  const isText = others.length === 0 && only.type === 'text' && only.marks === undefined
  return isText && prose.test(only.text ?? '') ? (only.text ?? '') : null
}

function writing(content: readonly BodyNode[], all: boolean): Tagged {
  return withTags(content, { all })
}

function write(contents: readonly Tagged[]): string[] {
  if (contents.length === 0) return []
  const paragraphs = contents.map(({ content }) => {
    // In the context of a heading, breaks are written as tags, so the text stays one line.
    const context = { warnings: new Map(), blockId: null, labels: null, isLast: false, place: 'heading' } as const
    return [{ type: 'paragraph' as const, children: exportInline(content, context) }]
  })
  return writeFlow(
    paragraphs.map((nodes) => ({ nodes, after: null })),
    null,
  )
}

// This sign is put before a text that is parsed. It keeps the beginning of the text (a number and a dot, a hash, raw
// HTML) from opening another block. The space after the sign lets emphasis open as at the start of a line.
const sign = '¶ '

function onOneLine(text: string): string {
  return text.replace(/\s+/g, (space) => (space.includes('\n') ? ' ' : space))
}

// The most bytes of the addresses of one textblock. Without this limit, a definition in a model's answer could be used
// by any number of links, each of which repeats the address.
const byteLimit = 1024 * 1024

// Returns the inline content of a text that is one paragraph, or null. Every footnote counts as defined, because
// otherwise a reference to the footnote would be read as text.
function readInline(markdown: string): BodyNode[] | null {
  if (markdown.includes('\0')) return null
  const labels = new Set(Array.from(markdown.matchAll(/\[\^([^\s[\]\\^&]{1,200})\]/g), ([, label]) => label))
  const definitions = [...labels].map((label) => `\n\n[^${label}]: x`).join('')
  const { pieces } = parseMarkdown({ markdown: `${sign}${markdown.trim()}${definitions}`, byteLimit })
  const blocks = pieces.flatMap((piece) => piece.blocks)
  const [paragraph, ...others] = blocks
  if (paragraph?.type !== 'paragraph' || others.some(({ type }) => type !== 'footnoteDefinition')) return null
  const [first, ...rest] = paragraph.content ?? []
  if (first?.type !== 'text' || first.marks !== undefined || !first.text?.startsWith(sign)) return null
  const text = first.text.slice(sign.length)
  return text === '' ? rest : [{ ...first, text }, ...rest]
}

function normalised(content: readonly BodyNode[]): BodyNode[] {
  const { result } = normaliseBlocks([{ type: 'paragraph', content }], { from: 'markdown' })
  return result[0]?.content ?? []
}
