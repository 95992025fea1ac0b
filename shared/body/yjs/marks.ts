import type { Attrs, Mark } from '../document.ts'
import { markTable } from '../nodes.ts'

/** Marks as Yjs knows them: mark name to the mark's attributes; null ends a format. */
export type Formats = { [mark: string]: Attrs | null }

// Editors that let a mark overlap itself write `comment--Ab3dEf9+`: the name and eight base64 characters.
const hashedName = /^(.*)--[A-Za-z0-9+/=]{8}$/
// Where the marks of an inline node that is no text are kept, since an XML element has attributes only.
const elementPrefix = '_mark_'
const rank = new Map(Object.keys(markTable).map((name, index) => [name, index]))

/** The formats of a text run. No mark of our schema overlaps itself, so the names are never hashed. */
export function formatsOf(marks: readonly Mark[] = []): Formats {
  return Object.fromEntries(marks.map((mark) => [mark.type, mark.attrs ?? {}]))
}

/**
 * The marks of a text run in schema order, unknown names last by name. Attributes that are null are left out, hashed
 * names are read as plain ones, and of equal marks one is kept.
 */
export function marksOf(formats: { [name: string]: unknown } = {}): Mark[] {
  const marks = new Map<string, Mark>()
  for (const [name, value] of Object.entries(formats)) {
    if (name === 'ychange' || value === null) continue
    const type = hashedName.exec(name)?.[1] ?? name
    const attrs = writtenAttrs(value)
    const mark = attrs ? { type, attrs } : { type }
    marks.set(JSON.stringify(mark), mark)
  }
  return [...marks.values()].sort((a, b) => rankOf(a) - rankOf(b) || (a.type < b.type ? -1 : 1))
}

/** The XML attributes that carry the marks of an inline node that is no text, such as a link around an image. */
export function elementFormats(marks: readonly Mark[] = []): Attrs {
  return Object.fromEntries(marks.map((mark) => [elementPrefix + mark.type, mark.attrs ?? {}]))
}

/** Splits the attributes of an XML element into those of the node and its marks. Null attributes are left out. */
export function splitElementAttributes(attributes: { [name: string]: unknown }): { attrs?: Attrs; marks: Mark[] } {
  const formats: { [name: string]: unknown } = {}
  const own: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith(elementPrefix)) formats[name.slice(elementPrefix.length)] = value
    else if (name !== 'ychange') own[name] = value
  }
  return { attrs: writtenAttrs(own), marks: marksOf(formats) }
}

// Key order in a Y.Map differs between replicas, so it is made the same here.
function writtenAttrs(value: unknown): Attrs | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const entries = Object.entries(value as Attrs).filter(([, member]) => member !== null && member !== undefined)
  return entries.length > 0 ? Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) : undefined
}

function rankOf(mark: Mark): number {
  return rank.get(mark.type) ?? rank.size
}
