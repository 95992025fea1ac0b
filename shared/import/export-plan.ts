import { createHash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { attachmentIdOf, attachmentSrc } from '../body/addresses.ts'
import { withAddresses } from '../body/changed-addresses.ts'
import type { DocNode } from '../body/document.ts'
import type { Properties } from '../documents/metadata.ts'
import { Nullable } from '../schema/identifiers.ts'
import { documentIdPattern } from '../schema/ids.ts'
import type {
  NewIds,
  Plan,
  PlannedAttachment,
  PlannedBody,
  PlannedContent,
  PlannedDocument,
  PlannedFolder,
} from './plan.ts'
import { type ImportSource, readSourceText, type Skipped, SourceError } from './source.ts'

// The largest manifest in bytes. A longer JSON text does not fit into one string.
const manifestLimit = 500 * 1000 * 1000

// The largest attachment in bytes: far more than the service accepts by default.
const fileLimit = 256 * 1024 * 1024

/** The file that makes a source an export. */
export const manifestName = 'manifest.json'

/** The plan of an export, from its manifest. Rejects with a SourceError for an invalid manifest. */
export async function planOfExport(source: ImportSource): Promise<Plan> {
  const text = await readSourceText(source, manifestName, manifestLimit)
  const manifest = parse(text)
  const attachments = Map.groupBy(manifest.attachments, ({ document_id }) => document_id)
  const known = { documents: new Set(manifest.documents.map(({ id }) => id)), attachments: new Set<string>() }
  for (const { id, path } of manifest.attachments) if (path !== null) known.attachments.add(id)
  const documents = manifest.documents.map((document) =>
    planDocument({ source, known }, { document, attachments: attachments.get(document.id) ?? [] }),
  )
  requireUnique(manifest.documents.map(({ id }) => id))
  return {
    name: manifest.knowledge_base.name,
    fingerprint: createHash('sha256').update(text).digest('hex'),
    folders: parentsFirst(manifest.folders),
    documents,
    skipped: skippedOf(source, manifest),
    deadLinks: [],
    warnings: warningsOf(manifest),
  }
}

const Manifest = Type.Object({
  format: Type.Literal('svc-export'),
  format_version: Type.Literal(1),
  knowledge_base: Type.Object({ name: Type.String() }),
  folders: Type.Array(Type.Object({ id: Type.Integer(), parent_id: Nullable(Type.Integer()), name: Type.String() })),
  documents: Type.Array(
    Type.Object({
      id: Type.String({ pattern: documentIdPattern }),
      title: Type.String(),
      document_type: Type.Enum(['document', 'spreadsheet']),
      folder_id: Nullable(Type.Integer()),
      heading_numbered: Type.Boolean(),
      background_color: Nullable(Type.String()),
      collapsed_block_ids: Type.Array(Type.String()),
      // Exports of earlier versions have neither.
      tags: Type.Optional(Type.Array(Type.String())),
      properties: Type.Optional(Type.Unsafe<Properties>(Type.Object({}))),
      variant_role: Type.Optional(Nullable(Type.String())),
      json_path: Type.String(),
    }),
  ),
  attachments: Type.Array(
    Type.Object({
      id: Type.String(),
      document_id: Type.String(),
      filename: Type.String(),
      content_type: Type.String(),
      path: Nullable(Type.String()),
    }),
  ),
})
type Manifest = Static<typeof Manifest>

const manifestSchema = Compile(Manifest)

function parse(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new SourceError(`${manifestName} is not JSON`, { cause })
  }
  if (manifestSchema.Check(value)) return value
  const [error] = manifestSchema.Errors(value)
  throw new SourceError(`${manifestName} is not that of an export: ${error?.instancePath} ${error?.message}`)
}

type Known = { documents: ReadonlySet<string>; attachments: ReadonlySet<string> }

function planDocument(
  context: { source: ImportSource; known: Known },
  input: { document: Manifest['documents'][number]; attachments: Manifest['attachments'] },
): PlannedDocument {
  const { id, title, folder_id, json_path } = input.document
  const { document_type, heading_numbered, background_color, collapsed_block_ids } = input.document
  const { tags = [], properties = {} } = input.document
  const attachments = input.attachments.flatMap((attachment) => planAttachment(context.source, attachment))
  return {
    key: id,
    id,
    folder: folder_id === null ? null : String(folder_id),
    metadata: { title, document_type, heading_numbered, background_color, collapsed_block_ids, tags, properties },
    read: () => readBody(context, { path: json_path, attachments }),
  }
}

function planAttachment(source: ImportSource, attachment: Manifest['attachments'][number]): PlannedAttachment[] {
  const { id, filename, content_type, path } = attachment
  if (path === null) return []
  return [{ key: id, filename, contentType: content_type, read: () => source.read(path, fileLimit) }]
}

async function readBody(
  { source, known }: { source: ImportSource; known: Known },
  { path, attachments }: { path: string; attachments: PlannedAttachment[] },
): Promise<PlannedBody> {
  const document = parseBody(await readSourceText(source, path), path)
  const named = referencesOf(document)
  return {
    attachments,
    refersToOthers: named.attachments.size > 0 || [...named.documents].some((id) => known.documents.has(id)),
    // The service checks the body against its schema, so the import of an export need not check it.
    content: (ids) => ({ format: 'tiptap-json', document: renamed(document, ids) }) as PlannedContent,
  }
}

// The importer only walks over the nodes of the body, so it checks only that there is a list of nodes. The service
// checks the body against its schema.
function parseBody(text: string, path: string): DocNode {
  try {
    const value = JSON.parse(text) as DocNode
    if (value.type === 'doc' && Array.isArray(value.content)) return value
  } catch (cause) {
    throw new SourceError(`${path} is not JSON`, { cause })
  }
  throw new SourceError(`${path} is not a document`)
}

function parentsFirst(folders: Manifest['folders']): PlannedFolder[] {
  const children = Map.groupBy(folders, ({ parent_id }) => parent_id)
  const ordered = [...(children.get(null) ?? [])]
  for (const folder of ordered) ordered.push(...(children.get(folder.id) ?? []))
  if (ordered.length !== folders.length) throw new SourceError(`${manifestName} has folders that stand nowhere`)
  requireUnique(folders.map(({ id }) => String(id)))
  return ordered.map(({ id, parent_id, name }) => ({
    key: String(id),
    parent: parent_id === null ? null : String(parent_id),
    name,
  }))
}

function requireUnique(keys: string[]): void {
  if (new Set(keys).size !== keys.length) throw new SourceError(`${manifestName} names something twice`)
}

function skippedOf(source: ImportSource, { documents, attachments }: Manifest): Skipped[] {
  const named = new Set([manifestName, ...documents.map(({ json_path }) => json_path)])
  for (const { path } of attachments) if (path !== null) named.add(path)
  // The Markdown files of an export are a second form of its documents, for people. So they do not count as skipped.
  const extra = [...source.names].filter((name) => !named.has(name) && !name.startsWith('markdown/'))
  return [
    ...source.skipped,
    ...attachments.flatMap(({ id, filename, path }): Skipped[] =>
      path === null ? [{ name: `attachments/${id}/${filename}`, reason: 'no_bytes' }] : [],
    ),
    ...extra.map((name): Skipped => ({ name, reason: 'not_in_manifest' })),
  ]
}

function warningsOf(manifest: Manifest): string[] {
  const files = manifest.attachments.filter(({ path }) => path === null).length
  const variants = manifest.documents.filter(({ variant_role }) => variant_role === 'translation').length
  return [
    ...(files > 0 ? [`the files of ${files} attachments are not in the export; images of them stay empty`] : []),
    ...(variants > 0 ? [`${variants} translations become documents of their own`] : []),
  ]
}

/** The ids of the documents and attachments that a body names. @internal */
export function referencesOf(document: DocNode): { documents: Set<string>; attachments: Set<string> } {
  const [documents, attachments] = [new Set<string>(), new Set<string>()]
  withAddresses(document, (address) => {
    const [attachment, target] = [attachmentIdOf(address), linkedDocument(address)]
    if (attachment !== null) attachments.add(attachment)
    if (target !== null) documents.add(target.id)
    return undefined
  })
  return { documents, attachments }
}

/**
 * A copy of the body with the ids that documents and attachments have now. An image without its file stays, empty.
 * @internal
 */
export function renamed(document: DocNode, ids: NewIds): DocNode {
  return withAddresses(document, (address) => {
    const attachment = attachmentIdOf(address)
    if (attachment !== null) {
      const id = ids.attachment(attachment)
      return id === undefined ? null : attachmentSrc(id)
    }
    const target = linkedDocument(address)
    const id = target === null ? undefined : ids.document(target.id)
    return id && `svc://doc/${id}${target?.rest}`
  })
}

function linkedDocument(address: string): { id: string; rest: string } | null {
  const [, id, rest = ''] = /^svc:\/\/doc\/([A-Za-z0-9_-]+)(#.*)?$/s.exec(address) ?? []
  return id === undefined ? null : { id, rest }
}
