import { type BodyFamily, bodyFamilies } from './bodies.ts'
import type { Entry, Use } from './entry.ts'
import type { Group } from './measure.ts'
import { type Family, htmlTexts, markdownTexts, wordTexts } from './texts.ts'
import { type UpdateFamily, updateFamilies } from './updates.ts'

/** The parts of the table. The readers of the entries of a part belong together. */
export const parts = ['markdown', 'documents', 'bodies', 'updates', 'texts', 'requests'] as const
export type Part = (typeof parts)[number]

/** The inputs for all entries of a part: the name of a family, or a text that is repeated. */
export type Cell = { part: Part } & ({ family: string } | { repeated: string })

/** The names of the families for a part. */
export function familiesOf(part: Part): string[] {
  return Object.keys(familiesByPart[part])
}

const allTexts = { ...markdownTexts, ...htmlTexts, ...wordTexts }
const familiesByPart = {
  markdown: { ...markdownTexts, ...htmlTexts },
  documents: allTexts,
  bodies: bodyFamilies,
  updates: updateFamilies,
  texts: allTexts,
  requests: wordTexts,
}

/** The readers of a cell. Only the modules of its part are loaded, since counting costs time for all loaded code. */
export async function groupsOf(cell: Cell): Promise<Group[]> {
  if (cell.part === 'bodies') return [await bodyGroup('family' in cell ? cell.family : '')]
  if (cell.part === 'updates') return [await updateGroup('family' in cell ? cell.family : '')]
  const text =
    'family' in cell
      ? ((allTexts as Record<string, Family>)[cell.family] as Family)
      : (size: number) => repeatedTo(cell.repeated, size)
  return (await entriesOf(cell.part)).map(({ name, input, uses, longest = Infinity, isNative = false }) => ({
    entry: name,
    inputOf: (size) => input(text(Math.min(size, longest))),
    uses,
    isNative,
  }))
}

async function entriesOf(part: Exclude<Part, 'bodies' | 'updates'>): Promise<readonly Entry[]> {
  if (part === 'markdown') return (await import('./entries/markdown.ts')).markdownEntries
  if (part === 'documents') return (await import('./entries/documents.ts')).documentEntries
  if (part === 'texts') return (await import('./entries/texts.ts')).textEntries
  return (await import('./entries/requests.ts')).requestEntries
}

async function bodyGroup(family: string): Promise<Group> {
  const { bodyOf, readers } = await import('./entries/documents.ts')
  const nodes = bodyFamilies[family] as BodyFamily
  return {
    entry: 'a JSON body',
    inputOf: (size) => bodyOf(nodes(size)),
    uses: readers as Readonly<Record<string, Use>>,
    isNative: false,
  }
}

async function updateGroup(family: string): Promise<Group> {
  const { updateReaders } = await import('./entries/updates.ts')
  const inputOf = updateFamilies[family] as UpdateFamily
  return { entry: 'an update of an editor', inputOf, uses: updateReaders, isNative: false }
}

function repeatedTo(unit: string, size: number): string {
  return unit.repeat(Math.max(1, Math.round(size / unit.length)))
}
