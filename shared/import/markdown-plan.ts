import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import GithubSlugger from 'github-slugger'
import type { Nodes, Root } from 'mdast'
import { type ReadFrontMatter, readFrontMatter, titleInFrontMatter } from '../documents/front-matter.ts'
import { type Destination, htmlDestinations, parseMarkdown, replaceDestinations } from './destinations.ts'
import type { NewIds, Plan, PlannedAttachment, PlannedBody, PlannedDocument, PlannedFolder } from './plan.ts'
import { type ImportSkipReason, type ImportSource, readSourceText, type Skipped, SourceError } from './source.ts'

/**
 * Plans a document for every Markdown file, in the folders of the source. The title of a document comes from the front
 * matter, else from the file name without its ending, which people recognise. Links between files become links between
 * documents, and images and other files that a text names become attachments, also in raw HTML. Front matter becomes
 * tags and properties as far as it fits. All other text stays as it is. Rejects with a SourceError when the source has
 * no Markdown file.
 */
export async function planOfMarkdown(source: ImportSource): Promise<Plan> {
  const offered = [...source.names].filter((name) => skipReasonOf(name) === null).sort()
  const paths = offered.filter(isMarkdown)
  if (paths.length === 0) throw new SourceError(`there is no Markdown in ${source.name}, nor a manifest.json`)
  const context: MarkdownSource = {
    source,
    byName: Map.groupBy(offered, (name) => posix.basename(name).toLowerCase()),
    nameOf: paths.every((path) => notionId.test(withoutEnding(path))) ? (name) => name.replace(notionId, '') : String,
    headings: new Map(),
    linked: new Set(),
    named: new Set(),
    deadLinks: [],
  }
  const documents: PlannedDocument[] = []
  for (const path of paths) documents.push(await planDocument(context, path))
  const { named, deadLinks, nameOf } = context
  const skipped = [...source.skipped, ...skippedOf(source, named)]
  const folders = foldersOf(paths, nameOf)
  return { name: source.name, fingerprint: 'markdown', folders, documents, skipped, deadLinks, warnings: [] }
}

/** A source of Markdown, with what is learned of it while its files are planned. */
type MarkdownSource = {
  source: ImportSource
  /** The paths of all files, by their names in lower case. */
  byName: ReadonlyMap<string, string[]>
  /** The title or folder name that the name of a file or folder tells. */
  nameOf: (name: string) => string
  /** The slugs of the headings of each file. */
  headings: Map<string, ReadonlySet<string>>
  /** The files and slugs of the headings that links name. */
  linked: Set<string>
  /** The files that a text names. */
  named: Set<string>
  deadLinks: Plan['deadLinks']
}

// Notion puts an id behind each title in the names of files and folders.
const notionId = /(?<=.) [0-9a-f]{32}$/

// The files of a source that become neither a document nor an attachment.
function skippedOf(source: ImportSource, shown: ReadonlySet<string>): Skipped[] {
  return [...source.names].flatMap((name) => {
    const unused =
      isMarkdown(name) || shown.has(name) ? null : typeOf(name)?.startsWith('image/') ? 'unnamed_image' : 'other_type'
    const reason = skipReasonOf(name) ?? unused
    return reason === null ? [] : [{ name, reason }]
  })
}

// The reason to skip a file for its name, or null. Only a zip offers such files, since a folder is listed without them.
function skipReasonOf(name: string): ImportSkipReason | null {
  const parts = name.split('/')
  if (parts.some((part) => part.startsWith('.') || part === '__MACOSX')) return 'hidden'
  return parts.includes('node_modules') ? 'node_modules' : null
}

async function planDocument(context: MarkdownSource, path: string): Promise<PlannedDocument> {
  const folder = posix.dirname(path)
  // A file that cannot be read does not end the plan. The import of this file fails later, and the other files are
  // imported.
  const text = await readSourceText(context.source, path).catch(() => null)
  const outline = text === null ? null : markdownOutline(text)
  context.headings.set(path, new Set(outline?.headings.map(({ slug }) => slug)))
  for (const { url } of outline?.destinations ?? []) {
    const target = fileAt(context, { path, url })
    if (target === null) context.deadLinks.push({ name: path, address: url })
    else if (target !== undefined) context.named.add(target)
    if (target && url.includes('#')) context.linked.add(headingKey(target, slugIn(url)))
  }
  const title = outline?.title ?? context.nameOf(withoutEnding(path))
  return {
    key: path,
    id: null,
    folder: folder === '.' ? null : folder,
    metadata: {
      title: [...title].slice(0, 500).join(''),
      tags: outline?.tags ?? [],
      properties: outline?.properties ?? {},
    },
    read: () => readBody(context, path),
  }
}

function withoutEnding(path: string): string {
  return posix.basename(path).replace(/\.[^.]+$/, '')
}

async function readBody(context: MarkdownSource, path: string): Promise<PlannedBody> {
  const text = withoutLabels(await readSourceText(context.source, path))
  const { destinations, headings } = markdownOutline(text)
  const targets = new Map(destinations.map((one) => [one, fileAt(context, { path, url: one.url }) ?? undefined]))
  const files = new Set([...targets.values()].filter((target) => target !== undefined && typeOf(target) !== undefined))
  // A heading gets its id here, so that links of other files can name it.
  const linked = headings.filter(({ slug }) => context.linked.has(headingKey(path, slug)))
  const anchors = linked.map(({ slug, start }) => ({ kind: 'anchor' as const, slug, start, end: start }))
  return {
    attachments: [...files].map((file) => planAttachment(context.source, { path, file: file as string })),
    refersToOthers: [...targets.values()].some((target) => target !== undefined),
    content: (ids) => ({
      format: 'markdown',
      content: replaceDestinations(text, [...destinations, ...anchors], (one) => {
        if (one.kind === 'anchor') return `<!-- block=${headingId(path, one.slug)} -->\n`
        const address = newAddress(context, ids, { path, url: one.url, target: targets.get(one) })
        return address !== undefined && one.isHtml ? `"${address}"` : address
      }),
    }),
  }
}

// The file of the source that a relative address means. Null when there is none. Undefined for an address that names no
// file, or a file of which an import makes nothing. A leading slash means the top folder of the source. As a last
// resort the name of the file counts, if it is the only one with this name.
function fileAt({ source, byName }: MarkdownSource, { path, url }: { path: string; url: string }) {
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|^$|^\/api\/v1\//i.test(url)) return undefined
  if (url.startsWith('#')) return path
  const plain = decoded(url.replace(/[#?].*$/s, '')).normalize('NFC')
  const from = plain.startsWith('/') ? '.' : posix.dirname(path)
  const wanted = posix.join(from, plain).replace(/^\//, '')
  const alike = ['', '.md'].map((end) => byName.get(posix.basename(plain + end).toLowerCase()) ?? [])
  const only = alike.flatMap((names) => (names.length === 1 ? names : []))
  const found = [wanted, `${wanted}.md`, ...only].find((name) => source.names.has(name))
  if (found === undefined) return null
  return isMarkdown(found) || typeOf(found) !== undefined ? found : undefined
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

function newAddress(
  { headings }: MarkdownSource,
  ids: NewIds,
  { path, url, target }: { path: string; url: string; target: string | undefined },
): string | undefined {
  if (target === undefined) return undefined
  if (!isMarkdown(target)) {
    const id = ids.attachment(attachmentKey({ path, file: target }))
    return id && `/api/v1/attachments/${id}`
  }
  const id = ids.document(target)
  const slug = slugIn(url)
  const isHeading = headings.get(target)?.has(slug) ?? false
  if (url.startsWith('#') && !isHeading) return undefined
  return id && `svc://doc/${id}${isHeading ? `#block=${headingId(target, slug)}` : ''}`
}

// People name a heading by its slug, and Obsidian by its words.
function slugIn(url: string): string {
  return new GithubSlugger().slug(decoded(/#(.+)$/s.exec(url)?.[1] ?? ''))
}

function headingKey(path: string, slug: string): string {
  return `${path}\n${slug}`
}

const idLetters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

// The block id of a heading, the same in each import of its file.
function headingId(path: string, slug: string): string {
  const digest = createHash('sha256').update(headingKey(path, slug)).digest()
  return `block_0${Array.from(digest.subarray(0, 25), (byte) => idLetters[byte % 32]).join('')}`
}

const office = 'application/vnd.openxmlformats-officedocument'
const contentTypes: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.zip': 'application/zip',
  '.docx': `${office}.wordprocessingml.document`,
  '.xlsx': `${office}.spreadsheetml.sheet`,
  '.pptx': `${office}.presentationml.presentation`,
}

function typeOf(name: string): string | undefined {
  return contentTypes[posix.extname(name).toLowerCase()]
}

function isMarkdown(name: string): boolean {
  return /\.(md|markdown)$/i.test(name)
}

// An attachment belongs to one document, so each document that names a file gets its own attachment.
function attachmentKey({ path, file }: { path: string; file: string }): string {
  return `${path}\n${file}`
}

function planAttachment(source: ImportSource, named: { path: string; file: string }): PlannedAttachment {
  return {
    key: attachmentKey(named),
    filename: posix.basename(named.file),
    contentType: typeOf(named.file) ?? 'application/octet-stream',
    read: () => source.read(named.file, 256 * 1024 * 1024),
  }
}

function foldersOf(paths: readonly string[], nameOf: (name: string) => string): PlannedFolder[] {
  const folders = new Map<string, PlannedFolder>()
  for (const path of paths) {
    const parts = posix.dirname(path).split('/')
    for (const [index, name] of parts.entries()) {
      if (name === '.') continue
      const key = parts.slice(0, index + 1).join('/')
      const parent = index === 0 ? null : parts.slice(0, index).join('/')
      // Shorter paths come first, so that a folder comes after its parent.
      if (!folders.has(key)) folders.set(key, { key, parent, name: nameOf(name) })
    }
  }
  return [...folders.values()]
}

/**
 * The addresses of a Markdown text, and the title, tags and properties in its front matter. The title is null without
 * such an entry.
 */
type Outline = { destinations: Destination[]; headings: Heading[]; title: string | null } & Pick<
  ReadFrontMatter,
  'tags' | 'properties'
>

/** A heading that is a block of its own: its slug, and its UTF-16 offset. */
type Heading = { slug: string; start: number }

/** The outline of a Markdown text, with the addresses of links, images and definitions in their order. @internal */
export function markdownOutline(markdown: string): Outline {
  const { tree, destinations } = parseMarkdown(markdown)
  const { tags = [], properties = {} } = frontMatterOf(tree) ?? {}
  const all = [...destinations, ...htmlDestinations(tree, markdown)]
  return { destinations: all, headings: headingsOf(tree), title: titleOf(tree), tags, properties }
}

function wordsOf(node: Nodes): string {
  if ('children' in node) return node.children.map(wordsOf).join('')
  return 'value' in node ? node.value : ''
}

function headingsOf(tree: Root): Heading[] {
  const slugger = new GithubSlugger()
  return tree.children.flatMap((node) => {
    if (node.type !== 'heading') return []
    return [{ slug: slugger.slug(wordsOf(node)), start: node.position?.start.offset ?? 0 }]
  })
}

// The text without the part of its front matter that becomes tags and properties.
function withoutLabels(markdown: string): string {
  const { tree } = parseMarkdown(markdown)
  const read = frontMatterOf(tree)
  const { start, end } = tree.children[0]?.position ?? {}
  if (read === null || start?.offset === undefined || end?.offset === undefined) return markdown
  if (read.tags.length === 0 && Object.keys(read.properties).length === 0) return markdown
  const kept = read.rest === null ? '' : `---\n${read.rest}---`
  return markdown.slice(0, start.offset) + kept + markdown.slice(end.offset)
}

function frontMatterOf(tree: Root): ReadFrontMatter | null {
  const [first] = tree.children
  return first?.type === 'yaml' ? readFrontMatter(first.value) : null
}

function titleOf(tree: Root): string | null {
  const [first] = tree.children
  return first?.type === 'yaml' ? titleInFrontMatter(first.value) : null
}
