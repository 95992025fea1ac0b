import type { PlacedLine } from '../../body/manifest.ts'
import { blank, textBlocks } from './texts.ts'

/** The lines that only one of two bodies has; see `compareLines`. */
export type BodyStep = { removed: readonly PlacedLine[]; added: readonly PlacedLine[] }

/** What a write to a source means for its units: sources that are gone or blank, and texts that are new or other. */
export type SourceChange = { gone: string[]; present: { block_id: string; hash: string }[] }

/** What a write to a target means for the blocks that units are mapped to; '' is a block that is blank or gone. */
export type TargetChange = { block_id: string; hash: string }[]

/**
 * The units that a write to the source touches, from what differs between the two bodies alone: its cost follows the
 * edit, not the document. A block that only moved is not named.
 */
export function sourceChange(step: BodyStep): SourceChange {
  const { before, after } = hashes(step)
  const gone = [...before].filter(([id, hash]) => hash !== blank && (after.get(id) ?? blank) === blank)
  const present = [...after].filter(([id, hash]) => hash !== blank && before.get(id) !== hash)
  return { gone: gone.map(([id]) => id), present: present.map(([block_id, hash]) => ({ block_id, hash })) }
}

/** The blocks of a target whose text a write changed, by what differs between the two bodies. */
export function targetChange(step: BodyStep): TargetChange {
  const { before, after } = hashes(step)
  const ids = new Set([...before.keys(), ...after.keys()])
  return [...ids].flatMap((block_id) => {
    const hash = after.get(block_id) ?? blank
    return hash === (before.get(block_id) ?? blank) ? [] : [{ block_id, hash }]
  })
}

function hashes({ removed, added }: BodyStep): { before: Map<string, string>; after: Map<string, string> } {
  return { before: hashesById(removed), after: hashesById(added) }
}

function hashesById(lines: readonly PlacedLine[]): Map<string, string> {
  return new Map(textBlocks(lines.map(({ block }) => block)).map(({ id, hash }) => [id, hash]))
}
