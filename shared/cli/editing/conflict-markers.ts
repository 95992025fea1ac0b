import { joinMarkdown, splitMarkdown } from '../sync/blocks.ts'
import type { BlockConflict, Merge } from '../sync/merge.ts'

const marks = { mine: '<<<<<<< yours', between: '=======', theirs: '>>>>>>> theirs' }

/**
 * A merge as a person resolves it in an editor. Each block in conflict shows both versions between the marks of version
 * control. A conflict of the block `document` shows both versions of the whole text.
 */
export function withMarkers({ merged, conflicts }: Merge): string {
  const conflictOf = new Map(conflicts.map((conflict) => [conflict.block_id, conflict]))
  const marked = (id: string | null, text: string) => {
    const conflict = id === null ? undefined : conflictOf.get(id)
    return conflict === undefined ? text : bothVersions(conflict)
  }
  const whole = conflictOf.get('document')
  if (whole !== undefined) return lineEnded(bothVersions(whole))
  const { frontMatter, blocks } = splitMarkdown(merged)
  return joinMarkdown({
    frontMatter: frontMatter === null ? null : lineEnded(marked('frontmatter', frontMatter)),
    blocks: blocks.map(({ id, text }) => ({ id, text: marked(id, text) })),
  })
}

function bothVersions({ mine, theirs }: BlockConflict): string {
  return [marks.mine, mine, marks.between, theirs, marks.theirs].join('\n')
}

/** Whether a text still has a mark of a conflict, so that the person has not chosen yet. */
export function hasMarkers(text: string): boolean {
  const lines = new Set(text.split(/\r?\n/))
  return lines.has(marks.mine) || lines.has(marks.theirs)
}

function lineEnded(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
