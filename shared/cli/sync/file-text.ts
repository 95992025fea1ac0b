import { isScalar, type Pair, type YAMLMap } from 'yaml'
import { readFrontMatter, rewriteFrontMatter } from '../../documents/front-matter.ts'
import type { Properties } from '../../documents/metadata.ts'
import { documentId } from './answers.ts'
import { splitFrontMatter } from './blocks.ts'
import type { Labels } from './labels.ts'
import { titleOfPath } from './paths.ts'

/** The metadata of a document that its file shows. */
export type Titled = Labels & { id: string }

/**
 * A file as it was read. `documentId` and `title` are null if the front matter does not name them. `frontMatter` is the
 * YAML that belongs to the body of the document, and `markdown` the text behind the front matter. `isMapping` is false
 * if there is no front matter, or if it is no mapping of YAML. Such front matter belongs to the body as a whole.
 */
export type FileParts = {
  documentId: string | null
  title: string | null
  tags: string[]
  properties: Properties
  isMapping: boolean
  frontMatter: string | null
  markdown: string
}

/**
 * Writes the text of a document's file: id, tags and properties in the front matter, then the body. `path` is the path
 * of the file. The title is in the front matter if the name of the file does not tell it, or if the body has a title
 * there. Front matter that is no mapping of YAML stays as it is.
 */
export function writeFileText(document: Titled, { body, path }: { body: string; path: string }): string {
  const { frontMatter, rest } = splitFrontMatter(body)
  const yaml = rewriteFrontMatter(frontMatter ?? '', (file, map) => {
    if (map.has('title') || titleOfPath(path) !== document.title) setFirst(map, 'title', document.title)
    setFirst(map, idEntry, document.id)
    if (document.tags.length > 0) map.set('tags', file.createNode(document.tags))
    for (const [name, value] of Object.entries(document.properties)) {
      if (!ownEntries.has(name)) map.set(name, file.createNode(value))
    }
    function setFirst(map: YAMLMap, name: string, value: string): void {
      if (map.has(name)) map.set(name, value)
      else map.items.unshift(file.createPair(name, value))
    }
  })
  return yaml === null ? body : `---\n${yaml}---\n\n${rest.replace(/^\n+/, '')}`
}

/**
 * Reads the text of a file. `kept` names the entries of front matter that belong to the body of the document. All other
 * entries become tags and properties as far as they fit.
 */
export function readFileText(text: string, kept: ReadonlySet<string>): FileParts {
  const { frontMatter, rest } = splitFrontMatter(text)
  const none = { documentId: null, title: null, tags: [], properties: {}, isMapping: false }
  if (frontMatter === null) return { ...none, frontMatter, markdown: rest }
  let documentId: string | null = null
  let title: string | null = null
  const own = rewriteFrontMatter(frontMatter, (_, map) => {
    documentId = textOf(map, idEntry)
    title = textOf(map, 'title')?.trim() || null
    if (documentId !== null) map.delete(idEntry)
    if (!kept.has('title')) map.delete('title')
  })
  const read = own === null ? null : readFrontMatter(own, kept)
  if (read === null) return { ...none, frontMatter, markdown: rest }
  const { tags, properties, rest: left } = read
  return { documentId, title, tags, properties, isMapping: true, frontMatter: left, markdown: rest }
}

/** The text with the line ends that most lines of a file have: line feeds, or carriage returns with line feeds. */
export function withLineEndsOf(present: string, text: string): string {
  const returns = present.split('\r\n').length - 1
  const lines = present.split('\n').length - 1
  return returns * 2 > lines ? text.replace(/\r?\n/g, '\r\n') : text
}

/** The body that a file gives its document, as Markdown for the service. */
export function bodyOf({ frontMatter, markdown }: Pick<FileParts, 'frontMatter' | 'markdown'>): string {
  return frontMatter === null ? markdown : `---\n${frontMatter}---\n\n${markdown.replace(/^\n+/, '')}`
}

/**
 * The entries of the front matter of a body that stay there when the file is read. No tag and no property of the
 * document has taken their place.
 */
export function keptEntries(body: string, { tags, properties }: Omit<Labels, 'title'>): Set<string> {
  const kept = new Set<string>()
  rewriteFrontMatter(splitFrontMatter(body).frontMatter ?? '', (_, map) => {
    for (const { key } of map.items as Pair[]) if (isScalar(key)) kept.add(String(key.value))
  })
  for (const name of Object.keys(properties)) kept.delete(name)
  if (tags.length > 0) kept.delete('tags')
  return kept
}

/** What a new file keeps in the front matter of its body, as an import does: its title. */
export const keptOfNewFile: ReadonlySet<string> = new Set(['title'])

const idEntry = 'document_id'
// Entries with a meaning of their own, which a property of the same name may not take.
const ownEntries = new Set([idEntry, 'title', 'tags'])

function textOf(map: YAMLMap, name: string): string | null {
  const value = map.get(name)
  if (typeof value !== 'string') return typeof value === 'number' && name === 'title' ? String(value) : null
  return name === idEntry && !documentId.test(value) ? null : value
}
