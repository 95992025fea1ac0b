import { type TwoTexts, twoTextComputation } from '../../body/change.ts'
import { compareLines, type PlacedLine } from '../../body/manifest.ts'
import { blank, textBlocks } from './texts.ts'

/** What a write to a source means for its units: sources that are gone or blank, and texts that are new or other. */
export type SourceChange = { gone: string[]; present: { block_id: string; hash: string }[] }

/** What a write to a target means for the blocks that units are mapped to; '' is a block that is blank or gone. */
export type TargetChange = { block_id: string; hash: string }[]

/**
 * The units that a write to the source touches, from what differs between the two bodies alone; a block that only moved
 * is not named. A thread calls it by its name. @public
 */
export function changeSource(texts: TwoTexts): SourceChange {
  const { before, after } = hashes(texts)
  const gone = [...before].filter(([id, hash]) => hash !== blank && (after.get(id) ?? blank) === blank)
  const present = [...after].filter(([id, hash]) => hash !== blank && before.get(id) !== hash)
  return { gone: gone.map(([id]) => id), present: present.map(([block_id, hash]) => ({ block_id, hash })) }
}

/**
 * The blocks of a target whose text a write changed, from what differs between the two bodies. A thread calls it by its
 * name. @public
 */
export function changeTarget(texts: TwoTexts): TargetChange {
  const { before, after } = hashes(texts)
  const ids = new Set([...before.keys(), ...after.keys()])
  return [...ids].flatMap((block_id) => {
    const hash = after.get(block_id) ?? blank
    return hash === (before.get(block_id) ?? blank) ? [] : [{ block_id, hash }]
  })
}

const module = import.meta.url
export const changingSource = twoTextComputation({ module, run: changeSource })
export const changingTarget = twoTextComputation({ module, run: changeTarget })

function hashes({ from, to }: TwoTexts): { before: Map<string, string>; after: Map<string, string> } {
  const { removed, added } = compareLines(from.split('\n'), to.split('\n'))
  return { before: hashesById(removed), after: hashesById(added) }
}

function hashesById(lines: readonly PlacedLine[]): Map<string, string> {
  return new Map(textBlocks(lines.map(({ block }) => block)).map(({ id, hash }) => [id, hash]))
}
