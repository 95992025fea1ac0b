import { type BodyLimits, checkBytes, checkCharacters, maximumNodes } from '../body-limits.ts'
import { refuseNode } from '../normalise-state.ts'

/** A size that a body certainly reaches or exceeds, in code points of text and in nodes. */
export type LeastSize = { characters: number; nodes: number }

/** A set of limits on a body, with the JSON pointer of its Markdown in the request. */
type Limits = Partial<BodyLimits> & { path?: string }

/**
 * Refuses texts whose body certainly exceeds a limit, without parsing them. `known` is the size of the blocks of the
 * body that are not in these texts. Refuses with 422 `document_too_large`, where `actual` is a lower bound. Refuses
 * with 422 `invalid_node` for too many nodes.
 */
export function refuseTooLarge(
  texts: readonly string[],
  { characterLimit = Number.POSITIVE_INFINITY, byteLimit = Number.POSITIVE_INFINITY, path = '' }: Limits,
  known: LeastSize = { characters: 0, nodes: 0 },
): void {
  const size = { ...known }
  for (const text of texts) {
    const characters = Math.min(characterLimit, byteLimit) - size.characters
    // A text that is shorter than what is left of the limits cannot exceed the limits. Each node takes at least two
    // characters of Markdown.
    if (text.length <= characters && text.length <= 2 * (maximumNodes - size.nodes)) continue
    const least = leastSize(text, { characters, nodes: maximumNodes - size.nodes })
    size.characters += least.characters
    size.nodes += least.nodes
  }
  checkCharacters(size.characters, characterLimit)
  checkBytes(size.characters, byteLimit)
  if (size.nodes <= maximumNodes) return
  throw refuseNode({ path, blockId: null }, `a document holds at most ${maximumNodes} nodes`)
}

/**
 * A lower bound of the size of the body of a Markdown text. When this bound already exceeds a limit, the text is
 * refused without parsing. The bound counts the words that no markup can hide, and the paragraphs and items that
 * certainly begin at a line. The count ends as soon as it exceeds `most`. Lines end with a line feed. The time is
 * linear in the text. @internal
 */
export function leastSize(markdown: string, most: LeastSize): LeastSize {
  const reading = new Reading(markdown, most)
  while (reading.characters <= most.characters && reading.nodes <= most.nodes && reading.readLine());
  return { characters: reading.characters, nodes: reading.nodes }
}

// What may precede the content of a line: white space and the markers of quotes and lists.
const marker = /[ \t>*+\-\d.)]*/y
const blank = /[ \t]*$/my
const bulletItem = /[-*+] \p{L}/uy
const blockStart = /(?:[-*+]|#{1,6}) \S/y
const fence = /^(`{3,}|~{3,})(.*)$/
// The openings of constructs that a `-->` need not end. The count ends at a comment of several lines that contains such
// an opening.
const openings = /<(?:\?|!\[|![a-z]|pre|script|style|textarea)|\$\$|```|~~~/i

/**
 * A reason that hides words from the current line on, or `nothing`. Inline markup hides words until the next block, and
 * raw HTML until an empty line. A line that begins a block ends inline markup.
 */
type Hidden = 'nothing' | 'inline' | 'html'

/**
 * A reader of a text, line by line. In doubt, words and blocks are not counted, so that the counts stay lower bounds.
 */
class Reading {
  characters = 0
  nodes = 0
  readonly #text: string
  readonly #most: LeastSize
  #at: number
  #end = 0
  #hidden: Hidden = 'nothing'
  #isAfterBlank = true
  // False from the line on at which nobody can tell whether a line is in code.
  #knowsCode = true
  #codeEnd = 0

  constructor(text: string, most: LeastSize) {
    this.#text = text
    this.#most = most
    this.#at = afterFrontmatter(text)
  }

  /** Reads a line. Returns false at the end of what can be counted. */
  readLine(): boolean {
    const text = this.#text
    const start = this.#at
    if (start >= text.length) return false
    const lineFeed = text.indexOf('\n', start)
    this.#end = lineFeed === -1 ? text.length : lineFeed
    this.#at = this.#end + 1
    if (start < this.#codeEnd) {
      this.#countWords(start, true)
      this.#isAfterBlank = true
      return true
    }
    if (matches(blank, text, start)) {
      this.#hidden = 'nothing'
      this.#isAfterBlank = true
      return true
    }
    return this.#readContent(start)
  }

  #readContent(start: number): boolean {
    const text = this.#text
    if (this.#hidden === 'inline' && matches(blockStart, text, start)) this.#hidden = 'nothing'
    const content = start + (matches(marker, text, start)?.[0].length ?? 0)
    if (text.startsWith('<!--', content)) return this.#readComment(start, content)
    if (/[<[$]/.test(text[content] ?? '')) {
      const line = text.slice(content, this.#end)
      if (/^(?:\[[^\n]*)?(?:<(?:[!?]|pre|script|style|textarea)|\$\$[^$]*$)/i.test(line)) return false
      if (line.includes('<')) this.#hidden = 'html'
    }
    const hasFence = this.#readFence(start)
    if (this.#hidden === 'nothing') this.#countBlock(start)
    this.#isAfterBlank = false
    // Words are counted from the content on, since digits before the content may be the number of an item.
    if (!hasFence) this.#countWords(content, false)
    return true
  }

  // Reads a comment. A comment at the start of a line is raw HTML, which hides the rest of the line on which the
  // comment ends. Within a paragraph, the text behind the comment belongs to the body, but is not counted.
  #readComment(start: number, content: number): boolean {
    const text = this.#text
    const end = text.indexOf('-->', content + 4)
    if (end === -1) return false
    if (end < this.#end) {
      // The line below an anchor begins a block, as the line below an empty line does.
      if (content > start) this.#hidden = 'html'
      else this.#isAfterBlank ||= this.#hidden === 'nothing'
      return true
    }
    if (openings.test(text.slice(content + 4, end))) return false
    const lineFeed = text.indexOf('\n', end)
    this.#at = lineFeed === -1 ? text.length : lineFeed
    this.#hidden = 'html'
    this.#knowsCode = false
    return true
  }

  // A fence at the start of a line begins code, whose words all count. Any other fence may begin or end code. No words
  // on the line of a fence count, since that line may show nothing.
  #readFence(start: number): boolean {
    const text = this.#text
    const line = text.slice(start, this.#end)
    if (!line.includes('```') && !line.includes('~~~')) return false
    const [, run = '', info = '`'] = fence.exec(line) ?? []
    if (this.#knowsCode && this.#hidden !== 'html' && !info.includes('`')) {
      const closing = new RegExp(`^ {0,3}${run}${run[0]}*[ \\t]*$`, 'gm')
      closing.lastIndex = this.#at
      this.#codeEnd = closing.test(text) ? closing.lastIndex : text.length
      this.#hidden = 'nothing'
      this.nodes += 1
    } else this.#knowsCode = false
    return true
  }

  #countBlock(start: number): void {
    if (!this.#knowsCode) return
    if (matches(bulletItem, this.#text, start)) this.nodes += 2
    else if (this.#isAfterBlank && /\p{L}/u.test(this.#text[start] ?? '')) this.nodes += 1
  }

  // Counts letters and digits, and single spaces between them.
  #countWords(start: number, isCode: boolean): void {
    if (this.#hidden !== 'nothing') return
    const text = this.#text
    let isAfterWord = false
    let isAfterSpace = false
    let address = { from: -1, to: -1 }
    for (let at = start; at < this.#end && this.characters <= this.#most.characters; at += 1) {
      if (at === address.from) at = address.to
      const code = text.charCodeAt(at)
      if (isWord(code)) {
        this.characters += isAfterSpace ? 2 : 1
        isAfterWord = true
        isAfterSpace = false
        continue
      }
      isAfterSpace = isAfterWord && code === space
      isAfterWord = false
      if (isCode || !hides.has(code)) continue
      const link = code === bracket && text[at - 1] !== '!' ? matches(plainLink, text, at) : null
      if (link === null) {
        this.#hide(at)
        return
      }
      address = { from: plainLink.lastIndex - (link[1] as string).length, to: plainLink.lastIndex - 1 }
    }
  }

  // The sign at an offset hides the rest of its line, and perhaps more.
  #hide(at: number): void {
    const sign = this.#text[at] as string
    if (sign === '<' || sign === '[' || this.#text.startsWith('$$', at)) this.#hidden = 'inline'
  }
}

// A link that always shows its text, whatever stands around the link. The group is the address in parentheses.
const plainLink = /\[[^[\]<>`&$\\\n!^~]*\](\([^\s()<>"'\\&`$[\]]*\))/y
const [space, bracket] = [' ', '['].map((sign) => sign.charCodeAt(0)) as [number, number]
const hides = new Set(Array.from('<[&$', (sign) => sign.charCodeAt(0)))

// Whether a UTF-16 code unit is a letter or a digit: 0 for not asked yet, 1 for no, 2 for yes. A half of a surrogate
// pair counts as neither.
const words = new Uint8Array(0x10000)

function isWord(code: number): boolean {
  if (words[code] === 0) words[code] = /[\p{L}\p{N}]/u.test(String.fromCharCode(code)) ? 2 : 1
  return words[code] === 2
}

function matches(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

// The offset behind the frontmatter, whose text does not count as text of the body. When the frontmatter does not end,
// nothing is counted, because the parser then reads no lists.
function afterFrontmatter(text: string): number {
  if (!/^\ufeff?---/.test(text)) return 0
  const closing = /\n---[ \t]*(?:\n|$)/g
  const found = closing.exec(text)
  return found === null ? text.length : closing.lastIndex
}
