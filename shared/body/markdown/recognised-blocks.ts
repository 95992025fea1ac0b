import { ulidPattern } from '../../schema/ids.ts'
import { canonicalJson } from '../canonical.ts'
import type { BlockNode, BodyNode } from '../document.ts'
import { normaliseDocument } from '../normalise.ts'
import type { RenderedBlock } from './rendered-blocks.ts'
import type { StoredBlock, StoredBlocks } from './stored-blocks.ts'

/** A stored block that stands unchanged at an offset of a text; `line` is null for an empty paragraph. */
type Recognised = { id: string; at: number; line: string | null }

/**
 * A stretch of a text that must be parsed, and the stored blocks directly below the stretch. The stretch goes from
 * `from` to `to`, and may be empty. `next` is the end of the anchor of the first of these blocks, or the end of the
 * text. `kept` is what these blocks count towards the limits on a body.
 */
export type Stretch = { from: number; to: number; next: number; recognised: Recognised[]; kept: Counts }

/**
 * A set of counts that recognised blocks add towards the limits on a body; `bytes` is at least what the normaliser
 * counts.
 */
export type Counts = { nodes: number; characters: number; bytes: number }

/**
 * Finds the blocks of a text that stand below their anchors exactly as the service writes them. Each line feed of the
 * text is a single character. The time is linear in the text and in the stored body.
 *
 * The comment above a recognised block is no anchor if it lies within raw HTML, code or math that the stretch above
 * leaves open. The caller finds out by parsing the stretch. An anchor ends every other construct that the parser has
 * open, and a recognised block leaves nothing open.
 */
export function recogniseBlocks(source: string, stored: StoredBlocks): Stretch[] {
  let stretch = emptyStretch(source, 0)
  const stretches = [stretch]
  for (let at = 0; at < source.length; ) {
    const found = recognise(source, at, stored)
    if (found === null) {
      if (stretch.recognised.length > 0) {
        stretch = emptyStretch(source, at)
        stretches.push(stretch)
      }
      const anchor = source.indexOf(`\n${anchorStart}`, at)
      at = anchor === -1 ? source.length : anchor + 1
      stretch.to = at
    } else {
      if (stretch.recognised.length === 0) stretch.next = found.anchorEnd
      stretch.recognised.push({ id: found.id, at, line: found.line })
      // An empty paragraph is not counted here, because `assemble` normalises and counts the paragraph.
      if (found.line !== null) stretch.kept = sumOf([stretch.kept, found.counts])
      at = found.end
    }
  }
  return stretches
}

/** The sum of counts. */
export function sumOf(counts: readonly Counts[]): Counts {
  const sum: Counts = { nodes: 0, characters: 0, bytes: 0 }
  for (const { nodes, characters, bytes } of counts) {
    sum.nodes += nodes
    sum.characters += characters
    sum.bytes += bytes
  }
  return sum
}

function emptyStretch(source: string, at: number): Stretch {
  return { from: at, to: at, next: source.length, recognised: [], kept: sumOf([]) }
}

const anchorStart = '<!-- block='
const anchorLine = new RegExp(`${anchorStart}(block_${ulidPattern})(?: [^\\s<>]+)? -->(?:\\n|$)`, 'y')
// A block ends at the end of the text or, after an empty line, at an anchor.
const blockEnd = new RegExp(`\\n*$|\\n\\n+(?=${anchorStart})`, 'y')
const emptyEnd = new RegExp(`\\n*(?:$|(?=${anchorStart}))`, 'y')

type Found = { id: string; anchorEnd: number; end: number; line: string | null; counts: Counts }

function recognise(source: string, at: number, stored: StoredBlocks): Found | null {
  anchorLine.lastIndex = at
  const id = anchorLine.exec(source)?.[1]
  const block = id === undefined ? undefined : stored.topLevel(id)
  if (id === undefined || block === undefined) return null
  const anchorEnd = anchorLine.lastIndex
  const { text } = block.rendered
  if (!source.startsWith(text, anchorEnd)) return null
  const rest = text === '' ? emptyEnd : blockEnd
  rest.lastIndex = anchorEnd + text.length
  if (!rest.test(source)) return null
  const counts = countsOf(block)
  if (counts === null) return null
  return { id, anchorEnd, end: rest.lastIndex, line: text === '' ? null : block.line, counts }
}

// The counts of a rendered block, or null for a block that is never recognised. An entry lives as long as its rendered
// block.
const known = new WeakMap<RenderedBlock, Counts | null>()

function countsOf({ rendered, line }: StoredBlock): Counts | null {
  const before = known.get(rendered)
  if (before !== undefined) return before
  const block = JSON.parse(line) as BlockNode
  const counts = standsAlone(block, rendered) ? measure(block, line) : null
  known.set(rendered, counts)
  return counts
}

/**
 * True if the Markdown of a block between anchors is certainly read as one block, whatever the text around the anchors
 * is. The answer is false for raw HTML, frontmatter and details, and for a block that is written as another type of
 * block.
 */
function standsAlone(block: BodyNode, { text, warnings, isOpening }: RenderedBlock): boolean {
  if (isOpening || text.trim() !== text || warnings.some(({ code }) => code === 'node_simplified')) return false
  return !holds(block, verbatimTypes)
}

const verbatimTypes: ReadonlySet<string> = new Set(['htmlBlock', 'htmlInline', 'details', 'frontmatter'])

function holds(node: BodyNode, types: ReadonlySet<string>): boolean {
  return types.has(node.type) || (node.content ?? []).some((child) => holds(child, types))
}

// Returns null for a block that the normaliser would change, because such a block must pass through the normaliser.
function measure(block: BlockNode, line: string): Counts | null {
  const { result, nodes, characters, warnings } = normaliseDocument(
    { type: 'doc', content: [block] },
    { from: 'markdown' },
  )
  const isNormal = warnings.length === 0 && canonicalJson(result.content[0] as BlockNode) === line
  return isNormal ? { nodes, characters, bytes: Buffer.byteLength(line) } : null
}
