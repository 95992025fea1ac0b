import Type, { type Static } from 'typebox'
import type { BlockNode, BodyNode } from '../body/document.ts'
import { headingTitle } from '../body/outline.ts'
import { plainText } from '../body/text.ts'
import { Nullable } from '../schema/identifiers.ts'
import { oneLine, truncate } from './plain.ts'

const Passage = Type.Object({ block_id: Type.String(), text: Type.String() })

/** What a deterministic summary takes from a run of top-level blocks (decisions 2.11), all texts on one line. */
export const Digest = Type.Object({
  block_count: Type.Number(),
  /** The first headings that have a title. */
  headings: Type.Array(Passage),
  /** The first paragraph with text, or without one the first other block that has some. */
  opening: Nullable(Passage),
  /** Whether a limit left out a heading or a part of the paragraph. */
  truncated: Type.Boolean(),
})
export type Digest = Static<typeof Digest>

const headingLimit = 20
const headingLength = 120
const openingLength = 500

/** The digest of stored lines. Only headings and what comes before the first paragraph are parsed. */
export function digestOf(lines: readonly string[]): Digest {
  const headings = blocksOf(lines, 'heading')
    .map((block) => ({ block_id: block.attrs.id, text: headingTitle(block) }))
    .filter(({ text }) => text !== '')
  const opening = openingOf(lines)
  return {
    block_count: lines.length,
    headings: headings
      .slice(0, headingLimit)
      .map(({ block_id, text }) => ({ block_id, text: truncate(text, headingLength) })),
    opening: opening && { ...opening, text: truncate(opening.text, openingLength) },
    truncated: headings.length > headingLimit || Array.from(opening?.text ?? '').length > openingLength,
  }
}

// Canonical JSON sorts its members, so `type` is the last of a block.
function isOfType(line: string, type: string): boolean {
  return line.endsWith(`"type":"${type}"}`)
}

function blocksOf(lines: readonly string[], type: string): BlockNode[] {
  return lines.filter((line) => isOfType(line, type)).map((line) => JSON.parse(line) as BlockNode)
}

function openingOf(lines: readonly string[]): Static<typeof Passage> | null {
  return (
    firstWithText(lines.filter((line) => isOfType(line, 'paragraph'))) ??
    firstWithText(lines.filter((line) => !isOfType(line, 'heading') && !isOfType(line, 'htmlBlock')))
  )
}

function firstWithText(lines: readonly string[]): Static<typeof Passage> | null {
  for (const line of lines) {
    const block = JSON.parse(line) as BlockNode
    // Badges and pictures alone say nothing, whatever their alternative texts are.
    const text = hasText(block) ? oneLine(plainText(block)) : ''
    if (text !== '') return { block_id: block.attrs.id, text }
  }
  return null
}

function hasText(node: BodyNode): boolean {
  return node.text?.trim() ? true : (node.content ?? []).some(hasText)
}
