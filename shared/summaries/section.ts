import { textVersion } from '../body/canonical.ts'
import type { BlockNode } from '../body/document.ts'
import { headingTitle } from '../body/outline.ts'

/** A section of a body: the stored lines of its heading and of what belongs to it. */
export type Section = { title: string; lines: readonly string[]; version: string }

/**
 * The section under a top-level heading, up to the next heading that is as high. `null`: there is such a block, but it is
 * no top-level heading; `undefined`: there is no such block.
 */
export function sectionOf(lines: readonly string[], blockId: string): Section | null | undefined {
  const start = lines.findIndex((line) => levelOf(line) > 0 && (JSON.parse(line) as BlockNode).attrs.id === blockId)
  if (start < 0) return lines.some((line) => line.includes(`"id":${JSON.stringify(blockId)}`)) ? null : undefined
  const level = levelOf(lines[start] ?? '')
  const length = lines.slice(start + 1).findIndex((line) => levelOf(line) > 0 && levelOf(line) <= level)
  const own = lines.slice(start, length < 0 ? undefined : start + 1 + length)
  return {
    title: headingTitle(JSON.parse(own[0] ?? '') as BlockNode),
    lines: own,
    version: textVersion(own.join('\n')),
  }
}

/** The level of a stored line that is a heading, otherwise 0; canonical JSON sorts its members, so `type` is the last. */
function levelOf(line: string): number {
  if (!line.endsWith('"type":"heading"}')) return 0
  return Number((JSON.parse(line) as BlockNode).attrs['level'] ?? 1)
}
