import { textVersion } from '../body/canonical.ts'
import type { BlockNode } from '../body/document.ts'
import { headingTitle } from '../body/outline.ts'

/**
 * A section of a body: the stored lines of its heading and of everything up to the next heading of its level or above.
 */
export type Section = { title: string; lines: readonly string[]; version: string }

/**
 * Returns the section under a top-level heading. Returns null when the block exists but is no top-level heading, and
 * undefined when there is no such block.
 */
export function sectionOf(lines: readonly string[], blockId: string): Section | null | undefined {
  const section = sectionsOf(lines, new Set([blockId])).get(blockId)
  if (section !== undefined) return section
  return lines.some((line) => line.includes(`"id":${JSON.stringify(blockId)}`)) ? null : undefined
}

/**
 * Returns the sections under some top-level headings, by heading id. Ids that are not the id of a top-level heading are
 * left out. Each heading is parsed once.
 */
export function sectionsOf(lines: readonly string[], blockIds: ReadonlySet<string>): Map<string, Section> {
  const sections = new Map<string, Section>()
  let open: { heading: BlockNode; start: number }[] = []
  const closeTo = (level: number, end: number) => {
    for (const { heading, start } of open) {
      const id = heading.attrs.id
      if (levelOf(heading) >= level && !sections.has(id)) sections.set(id, sectionAt(lines, { heading, start, end }))
    }
    open = open.filter(({ heading }) => levelOf(heading) < level)
  }
  for (const [start, line] of lines.entries()) {
    // Canonical JSON sorts the members of a block, so the type stands at the end of the line.
    if (!line.endsWith('"type":"heading"}')) continue
    const heading = JSON.parse(line) as BlockNode
    closeTo(levelOf(heading), start)
    if (blockIds.has(heading.attrs.id)) open.push({ heading, start })
  }
  closeTo(0, lines.length)
  return sections
}

function sectionAt(
  lines: readonly string[],
  { heading, start, end }: { heading: BlockNode; start: number; end: number },
): Section {
  const own = lines.slice(start, end)
  return { title: headingTitle(heading), lines: own, version: textVersion(own.join('\n')) }
}

function levelOf(heading: BlockNode): number {
  return Number(heading.attrs['level'] ?? 1)
}
