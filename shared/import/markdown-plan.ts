import { posix } from 'node:path'
import type { Root } from 'mdast'
import { type ReadFrontMatter, readFrontMatter, titleInFrontMatter } from '../documents/front-matter.ts'
import { type Destination, parseMarkdown, replaceDestinations } from './destinations.ts'
import type { NewIds, Plan, PlannedAttachment, PlannedBody, PlannedDocument, PlannedFolder } from './plan.ts'
import { type ImportSkipReason, type ImportSource, readSourceText, type Skipped, SourceError } from './source.ts'

/**
 * Plans a document for every Markdown file, in the folders of the source. The title of a document comes from the front
 * matter, else from the file name without its ending, which people recognise. Links between files become links between
 * documents, and images become attachments. Front matter becomes tags and properties as far as it fits. All other text
 * stays as it is. Rejects with a SourceError when the source has no Markdown file.
 */
export async function planOfMarkdown(source: ImportSource): Promise<Plan> {
  const offered = [...source.names].filter((name) => skipReasonOf(name) === null).sort()
  const paths = offered.filter(isMarkdown)
  if (paths.length === 0) throw new SourceError(`there is no Markdown in ${source.name}, nor a manifest.json`)
  const documents: PlannedDocument[] = []
  const shown = new Set<string>()
  for (const path of paths) documents.push(await planDocument(source, { path, shown }))
  const skipped = [...source.skipped, ...skippedOf(source, shown)]
  return { name: source.name, fingerprint: 'markdown', folders: foldersOf(paths), documents, skipped, warnings: [] }
}

// The files of a source that become neither a document nor an attachment.
function skippedOf(source: ImportSource, shown: ReadonlySet<string>): Skipped[] {
  return [...source.names].flatMap((name) => {
    const unused = isMarkdown(name) || shown.has(name) ? null : isImage(name) ? 'unnamed_image' : 'other_type'
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

async function planDocument(
  source: ImportSource,
  { path, shown }: { path: string; shown: Set<string> },
): Promise<PlannedDocument> {
  const folder = posix.dirname(path)
  // A file that cannot be read does not end the plan. The import of this file fails later, and the other files are
  // imported.
  const text = await readSourceText(source, path).catch(() => null)
  const outline = text === null ? null : markdownOutline(text)
  for (const destination of outline?.destinations ?? []) {
    const target = targetOf(source, { path, destination })
    if (destination.kind !== 'link' && isImage(target)) shown.add(target)
  }
  const title = outline?.title ?? posix.basename(path).replace(/\.[^.]+$/, '')
  return {
    key: path,
    id: null,
    folder: folder === '.' ? null : folder,
    metadata: {
      title: [...title].slice(0, 500).join(''),
      tags: outline?.tags ?? [],
      properties: outline?.properties ?? {},
    },
    read: () => readBody(source, path),
  }
}

async function readBody(source: ImportSource, path: string): Promise<PlannedBody> {
  const text = withoutLabels(await readSourceText(source, path))
  const { destinations } = markdownOutline(text)
  const targets = new Map(destinations.map((destination) => [destination, targetOf(source, { path, destination })]))
  const images = new Set(
    [...targets].flatMap(([{ kind }, target]) => (kind !== 'link' && isImage(target) ? [target] : [])),
  )
  return {
    attachments: [...images].map((image) => planAttachment(source, { path, image })),
    refersToOthers: [...targets.values()].some((target) => target !== undefined),
    content: (ids) => ({
      format: 'markdown',
      content: replaceDestinations(text, destinations, (destination) =>
        newAddress(ids, { path, target: targets.get(destination) }),
      ),
    }),
  }
}

// The file of the source that a relative address means, if there is such a file. A leading slash means the top folder
// of the source.
function targetOf(source: ImportSource, link: { path: string; destination: Destination }): string | undefined {
  const { url } = link.destination
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|^#|^$/i.test(url)) return undefined
  const plain = decoded(url.replace(/[#?].*$/s, '')).normalize('NFC')
  const path = posix.join(plain.startsWith('/') ? '.' : posix.dirname(link.path), plain).replace(/^\//, '')
  return [path, `${path}.md`].find((name) => source.names.has(name) && (isMarkdown(name) || isImage(name)))
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

function newAddress(ids: NewIds, { path, target }: { path: string; target: string | undefined }): string | undefined {
  if (target === undefined) return undefined
  if (isMarkdown(target)) {
    const id = ids.document(target)
    return id && `svc://doc/${id}`
  }
  const id = ids.attachment(attachmentKey({ path, image: target }))
  return id && `/api/v1/attachments/${id}`
}

const contentTypes: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

function isImage(name: string | undefined): name is string {
  return name !== undefined && posix.extname(name).toLowerCase() in contentTypes
}

function isMarkdown(name: string): boolean {
  return /\.(md|markdown)$/i.test(name)
}

// An attachment belongs to one document, so each document that shows an image gets its own attachment.
function attachmentKey({ path, image }: { path: string; image: string }): string {
  return `${path}\n${image}`
}

function planAttachment(source: ImportSource, named: { path: string; image: string }): PlannedAttachment {
  return {
    key: attachmentKey(named),
    filename: posix.basename(named.image),
    contentType: contentTypes[posix.extname(named.image).toLowerCase()] ?? 'application/octet-stream',
    read: () => source.read(named.image, 256 * 1024 * 1024),
  }
}

function foldersOf(paths: readonly string[]): PlannedFolder[] {
  const folders = new Map<string, PlannedFolder>()
  for (const path of paths) {
    const parts = posix.dirname(path).split('/')
    for (const [index, name] of parts.entries()) {
      if (name === '.') continue
      const key = parts.slice(0, index + 1).join('/')
      const parent = index === 0 ? null : parts.slice(0, index).join('/')
      // Shorter paths come first, so that a folder comes after its parent.
      if (!folders.has(key)) folders.set(key, { key, parent, name })
    }
  }
  return [...folders.values()]
}

/**
 * The addresses of a Markdown text, and the title, tags and properties in its front matter. The title is null without
 * such an entry.
 */
type Outline = { destinations: Destination[]; title: string | null } & Pick<ReadFrontMatter, 'tags' | 'properties'>

/** The outline of a Markdown text, with the addresses of links, images and definitions in their order. @internal */
export function markdownOutline(markdown: string): Outline {
  const { tree, destinations } = parseMarkdown(markdown)
  const { tags = [], properties = {} } = frontMatterOf(tree) ?? {}
  return { destinations, title: titleOf(tree), tags, properties }
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
