import { posix } from 'node:path'
import type { Definition, Image, Link, Nodes, Root } from 'mdast'
import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import type { NewIds, Plan, PlannedAttachment, PlannedBody, PlannedDocument, PlannedFolder } from './plan.ts'
import { readText, type Skipped, type SkipReason, type Source, SourceError } from './source.ts'

/**
 * Makes a document of every Markdown file, in folders as they are. Its title is the one of its front matter, else the
 * name of the file without its ending, so that whoever knows the file finds the document. Links between the files become
 * links between the documents, images among them attachments; all else stays as it is written.
 */
export async function planOfMarkdown(source: Source): Promise<Plan> {
  const offered = [...source.names].filter((name) => skipReasonOf(name) === null).sort()
  const paths = offered.filter(isMarkdown)
  if (paths.length === 0) throw new SourceError(`there is no Markdown in ${source.name}, nor a manifest.json`)
  const documents: PlannedDocument[] = []
  const shown = new Set<string>()
  for (const path of paths) documents.push(await planDocument(source, { path, shown }))
  const skipped = [...source.skipped, ...skippedOf(source, shown)]
  return { name: source.name, fingerprint: 'markdown', folders: foldersOf(paths), documents, skipped, warnings: [] }
}

/** The files of a source that become neither a document nor an attachment. */
function skippedOf(source: Source, shown: ReadonlySet<string>): Skipped[] {
  return [...source.names].flatMap((name) => {
    const unused = isMarkdown(name) || shown.has(name) ? null : isImage(name) ? 'unnamed_image' : 'other_type'
    const reason = skipReasonOf(name) ?? unused
    return reason === null ? [] : [{ name, reason }]
  })
}

// A folder is listed without such names; a zip may hold them.
function skipReasonOf(name: string): SkipReason | null {
  const parts = name.split('/')
  if (parts.some((part) => part.startsWith('.') || part === '__MACOSX')) return 'hidden'
  return parts.includes('node_modules') ? 'node_modules' : null
}

async function planDocument(
  source: Source,
  { path, shown }: { path: string; shown: Set<string> },
): Promise<PlannedDocument> {
  const folder = posix.dirname(path)
  // A file that cannot be read fails by itself, when its turn comes.
  const outline = await readText(source, path).then(outlineOf, () => null)
  for (const destination of outline?.destinations ?? []) {
    const target = targetOf(source, { path, destination })
    if (destination.kind !== 'link' && isImage(target)) shown.add(target)
  }
  const title = outline?.title ?? posix.basename(path).replace(/\.[^.]+$/, '')
  return {
    key: path,
    id: null,
    folder: folder === '.' ? null : folder,
    metadata: { title: [...title].slice(0, 500).join('') },
    read: () => readBody(source, path),
  }
}

async function readBody(source: Source, path: string): Promise<PlannedBody> {
  const text = await readText(source, path)
  const { destinations } = outlineOf(text)
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

// What a relative address means, when the source has it; a leading slash stands for the top of the source.
function targetOf(source: Source, link: { path: string; destination: Destination }): string | undefined {
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

// An attachment goes with its document, so each document has its own of an image that several show.
function attachmentKey({ path, image }: { path: string; image: string }): string {
  return `${path}\n${image}`
}

function planAttachment(source: Source, named: { path: string; image: string }): PlannedAttachment {
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
      // By parts, so that a folder stands behind the one it is in.
      if (!folders.has(key)) folders.set(key, { key, parent, name })
    }
  }
  return [...folders.values()]
}

/** An address in a Markdown text: what it is of, its value as it is meant, and where it stands, by UTF-16 offsets. */
export type Destination = { kind: 'link' | 'image' | 'definition'; url: string; start: number; end: number }

/** What an import needs to know of a Markdown text; `title` is null without front matter that has one. */
export type Outline = { destinations: Destination[]; title: string | null }

/** The addresses of links, images and definitions in their order, and the title that the front matter gives. */
export function outlineOf(markdown: string): Outline {
  found = []
  const tree = processor.parse(markdown) as Root
  const destinations = found.map(({ node, ...span }) => ({ kind: node.type, url: node.url, ...span }))
  found = []
  return { destinations, title: titleOf(tree) }
}

/** The text with some of its addresses replaced; everything else stays as it is, byte for byte. */
export function replaceDestinations(
  markdown: string,
  destinations: readonly Destination[],
  replacement: (destination: Destination) => string | undefined,
): string {
  let result = ''
  let done = 0
  for (const destination of [...destinations].sort((a, b) => a.start - b.start)) {
    const replaced = replacement(destination)
    if (replaced === undefined) continue
    result += markdown.slice(done, destination.start) + replaced
    done = destination.end
  }
  return result + markdown.slice(done)
}

type Addressed = Link | Image | Definition

let found: { node: Addressed; start: number; end: number }[] = []

type Token = { start: { offset: number }; end: { offset: number } }

// The tree has no positions of addresses, but the tokens that it is made of do: with the angle brackets, if there are.
function captureDestinations(this: { data: () => { fromMarkdownExtensions?: unknown[] } }): void {
  function note(this: { stack: Nodes[] }, token: Token): void {
    found.push({ node: this.stack.at(-1) as Addressed, start: token.start.offset, end: token.end.offset })
  }
  const data = this.data()
  data.fromMarkdownExtensions = [
    ...(data.fromMarkdownExtensions ?? []),
    { enter: { resourceDestination: note, definitionDestination: note } },
  ]
}

const processor = remark()
  .use(remarkFrontmatter)
  .use(remarkGfm)
  .use(remarkMath, { singleDollarTextMath: false })
  .use(captureDestinations)
  .freeze()

function titleOf(tree: Root): string | null {
  const [first] = tree.children
  const declared = first?.type === 'yaml' ? /^title:[ \t]*(\S.*)$/m.exec(first.value)?.[1]?.trim() : undefined
  const unquoted = declared?.replace(/^(["'])(.*)\1$/, '$2')
  return unquoted?.replace(/\s+/g, ' ').trim() || null
}
