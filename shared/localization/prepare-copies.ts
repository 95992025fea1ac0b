import { documentToLines, linesToDocument } from '../body/canonical.ts'
import type { FirstBody } from '../body/store-documents.ts'
import { textComputation } from '../body/text-computation.ts'
import { copyStructure } from './copy-structure.ts'
import { blank, textBlocks } from './units/texts.ts'

/** A source as it is stored, and how many translations get a copy of its structure. */
type Source = { text: string; copies: number }

/** What new translations of a source begin with. */
export type Copies = {
  /** The texts of the source that become units; `hash` is that of the inline content. */
  present: { block_id: string; hash: string }[]
  /** The first bodies; `blockIds` leads from blocks of the source to their copies. */
  copies: { content: FirstBody['content']; blockIds: ReadonlyMap<string, string> }[]
}

/** The work of `preparingCopies`, which a thread calls by its name. @public */
export function prepareCopies({ text, copies }: Source): Copies {
  const source = linesToDocument(text.split('\n'))
  const present = textBlocks(source.content).flatMap(({ id, hash }) => (hash === blank ? [] : { block_id: id, hash }))
  const made = Array.from({ length: copies }, () => {
    const { content, blockIds } = copyStructure(source)
    const { result, nodes, characters } = content
    return { content: { text: documentToLines(result).join('\n'), nodes, characters }, blockIds }
  })
  return { present, copies: made }
}

export const preparingCopies = textComputation({ module: import.meta.url, run: prepareCopies })
