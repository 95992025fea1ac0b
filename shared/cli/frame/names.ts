import type { Connection } from './connection.ts'
import { Failure } from './failures.ts'

/** A document that the person has named, and the block of it if the name has one. */
export type NamedDocument = { type: 'document'; id: string; block: string | null }

/** A knowledge base or a folder that the person has named. */
export type NamedPlace = { type: 'knowledge_base' | 'folder'; id: number }

/**
 * The document that a person names: by its id, by `svc://doc/…`, or by the address of its page. A path of names that
 * leads to it also names it, such as `Zoo/Mammals/Elephants`. Throws a Failure for a name that no document has, or
 * several.
 */
export function documentNamed(connection: Connection, name: string): Promise<NamedDocument> {
  return named(connection, name, { types: ['document'], kind: 'document' }) as Promise<NamedDocument>
}

/**
 * The knowledge base or folder that a person names: a knowledge base by its id, a folder by `folders/` and its id. The
 * address of the page and the path name both. Throws a Failure as `documentNamed` does.
 */
export function placeNamed(connection: Connection, name: string): Promise<NamedPlace> {
  const types = ['knowledge_base', 'folder'] as const
  return named(connection, name, { types, kind: 'knowledge base or folder' }) as Promise<NamedPlace>
}

/** The document or folder that a person names. Throws a Failure as `documentNamed` does. */
export function entryNamed(connection: Connection, name: string): Promise<NamedDocument | NamedPlace> {
  return named(connection, name, { types: ['document', 'folder'], kind: 'document or folder' })
}

type Expected = { types: readonly Found['type'][]; kind: string }

async function named(connection: Connection, name: string, { types, kind }: Expected) {
  const direct = directName(connection, name)
  if (direct !== null && !types.includes(direct.type)) throw wrongKind(name, `a ${kind}`)
  if (direct !== null) return direct
  const found = (await findPath(connection, name)).filter(({ type }) => types.includes(type))
  const { type, id } = onlyOne(found, { name, kind })
  return type === 'document' ? { type, id: String(id), block: null } : { type, id: Number(id) }
}

/** The id of the knowledge base that a person names, as `placeNamed`. */
export async function knowledgeBaseNamed(connection: Connection, name: string): Promise<number> {
  const { type, id } = await placeNamed(connection, name)
  if (type !== 'knowledge_base') throw wrongKind(name, 'a knowledge base')
  return id
}

function wrongKind(name: string, kind: string): Failure {
  return new Failure('usage', 'wrong_kind', { message: `"${name}" does not name ${kind}.` })
}

const documentId = /^doc_[A-Za-z0-9_-]{1,64}$/
const documentUri = /^svc:\/\/doc\/(doc_[A-Za-z0-9_-]{1,64})(?:#(?:block=)?(.+))?$/

// What a name says by itself, without looking anything up; null for a path.
function directName({ origin }: Connection, name: string): NamedDocument | NamedPlace | null {
  if (documentId.test(name)) return { type: 'document', id: name, block: null }
  if (/^[1-9]\d{0,15}$/.test(name)) return { type: 'knowledge_base', id: Number(name) }
  const [, folder] = /^folders\/([1-9]\d{0,15})$/.exec(name) ?? []
  if (folder !== undefined) return { type: 'folder', id: Number(folder) }
  const [, id, block = null] = documentUri.exec(name) ?? []
  if (id !== undefined) return { type: 'document', id, block }
  return /^https?:\/\//.test(name) ? addressedBy(name, origin) : null
}

// The pages of the service have the ids of what they show in their addresses.
function addressedBy(address: string, origin: string): NamedDocument | NamedPlace {
  const url = URL.parse(address)
  if (url?.origin !== origin) {
    throw new Failure('usage', 'other_service', {
      message: `${address} is not an address of ${origin}.`,
      hint: 'Name the service with --origin.',
    })
  }
  const [, document] = /^\/d\/(doc_[A-Za-z0-9_-]{1,64})(?:\/|$)/.exec(url.pathname) ?? []
  if (document !== undefined) return { type: 'document', id: document, block: url.hash.slice(1) || null }
  const [, base, folder] = /^\/kb\/(\d{1,16})(?:\/folders\/(\d{1,16}))?\/?$/.exec(url.pathname) ?? []
  if (folder !== undefined) return { type: 'folder', id: Number(folder) }
  if (base !== undefined) return { type: 'knowledge_base', id: Number(base) }
  throw new Failure('usage', 'unknown_address', {
    message: `${address} is the page of no document, folder or knowledge base.`,
  })
}

type Found = { type: 'document' | 'folder' | 'knowledge_base'; id: string | number; path: string }

type Node = { type: string; id: string | number; name?: string; title?: string; children?: readonly Node[] }

// Everything that the path can mean. Names may contain slashes themselves, so each name is compared as a whole with the
// beginning of the rest of the path. Spaces around a slash do not count: search shows paths with them.
async function findPath({ service }: Connection, path: string): Promise<Found[]> {
  const wanted = path
    .normalize('NFC')
    .trim()
    .replace(/^\/|\/$/g, '')
  const found: Found[] = []
  for await (const base of service.items('/knowledge-bases')) {
    const rest = restBehind(wanted, base.name)
    if (rest === null) continue
    if (rest === '') found.push({ type: 'knowledge_base', id: base.id, path: base.name })
    else {
      const { data: tree } = await service.api.GET('/knowledge-bases/{id}/tree', { params: { path: { id: base.id } } })
      descend(tree.children as readonly Node[], { rest, above: base.name, found })
    }
  }
  return found
}

function descend(nodes: readonly Node[], walk: { rest: string; above: string; found: Found[] }): void {
  for (const node of nodes) {
    const name = node.title ?? node.name ?? ''
    const rest = restBehind(walk.rest, name)
    if (rest === null) continue
    const path = `${walk.above}/${name}`
    if (rest === '') walk.found.push({ type: node.type as Found['type'], id: node.id, path })
    else descend(node.children ?? [], { rest, above: path, found: walk.found })
  }
}

// What follows the name and a slash at the beginning of the path. It is '' when the path is the name, and null when the
// path does not begin with the name.
function restBehind(path: string, name: string): string | null {
  const start = name.normalize('NFC')
  if (path === start) return ''
  if (!path.startsWith(start)) return null
  const [slash] = /^ *\/ */.exec(path.slice(start.length)) ?? []
  return slash === undefined ? null : path.slice(start.length + slash.length)
}

function onlyOne(found: readonly Found[], { name, kind }: { name: string; kind: string }): Found {
  const [first] = found
  if (first === undefined) {
    throw new Failure('notFound', 'name_not_found', {
      message: `There is no ${kind} "${name}".`,
      hint: '"knowledge-base bases" and "knowledge-base tree BASE" list the names. A path begins with the knowledge base.',
    })
  }
  if (found.length === 1) return first
  const candidates = found.map(({ type, id, path }) => ({ type, id, path }))
  throw new Failure('usage', 'ambiguous_name', {
    message: `"${name}" names several things. Name one of them by its id:`,
    lines: candidates.map((candidate) => `  ${shortName(candidate)}  ${candidate.path}`),
    details: { candidates },
  })
}

function shortName({ type, id }: Found): string {
  return type === 'folder' ? `folders/${id}` : String(id)
}
