import { Option } from 'commander'
import type { Output } from '../terminal/output.ts'
import type { Connection } from './connection.ts'
import { Failure } from './failures.ts'
import { entryNamed, type NamedPlace } from './names.ts'

/** The options of commands that change something. */
export type ChangeOptions = { dryRun?: boolean; ifMatch?: string }

export function dryRunOption(): Option {
  return new Option('--dry-run', 'only show what would be done')
}

export function ifMatchOption(): Option {
  return new Option('--if-match <version>', 'refuse unless the text of the document has this version still')
}

/** The header of a guarded call; null without a guard. */
export function guarded({ ifMatch }: ChangeOptions): { header: { 'If-Match': string } } | null {
  return ifMatch === undefined ? null : { header: { 'If-Match': ifMatch } }
}

/**
 * A change of one thing: a word for what is done, such as `Moved`, and what it is done to, for a person. `request` says
 * it for a program that wants a dry run. `show` prints the answer, in place of the two.
 */
export type Change<Data = unknown> = {
  word: string
  told: string
  request: object
  make: () => Promise<{ data: Data }>
  show?: (data: Data) => void
}

/** Makes changes one after the other, or tells what they would be. A program gets a line of JSON for each of them. */
export async function carryOut<Data>(
  out: Output,
  changes: readonly Change<Data>[],
  { dryRun = false }: ChangeOptions,
): Promise<void> {
  for (const { word, told, request, make, show } of changes) {
    const answer = dryRun ? null : await make()
    const line = () => out.line(answer === null ? `Would be ${word.toLowerCase()}` : word, `: ${told}`)
    if (answer === null) out.item({ dry_run: true, ...request }, line)
    else out.item(answer.data ?? request, () => (show === undefined ? line() : show(answer.data)))
  }
}

/** A document or folder that is to be changed, and how a person is told of it. */
export type Entry = ({ type: 'document'; id: string } | { type: 'folder'; id: number }) & { label: string }

/** The documents and folders that a person names. Throws a Failure for a guard that does not guard one document. */
export async function entriesNamed(
  connection: Connection,
  names: readonly string[],
  { ifMatch }: ChangeOptions,
): Promise<Entry[]> {
  const { api } = connection.service
  const entries: Entry[] = []
  for (const name of names) {
    const found = await entryNamed(connection, name)
    if (found.type === 'document') {
      const { id } = found
      const { title } = (await api.GET('/documents/{id}', { params: { path: { id } } })).data
      entries.push({ type: 'document', id, label: `"${title}" (${id})` })
    } else {
      const { id, name } = (await api.GET('/folders/{id}', { params: { path: { id: found.id } } })).data
      entries.push({ type: 'folder', id, label: `"${name}" (folders/${id})` })
    }
  }
  if (ifMatch === undefined || (entries.length === 1 && entries[0]?.type === 'document')) return entries
  throw new Failure('usage', 'usage', { message: '--if-match guards a single document.' })
}

/** A place as requests name it: folders have a `parent_id`, and documents a `folder_id`. */
export function locationOf<Member extends 'folder_id' | 'parent_id'>({ type, id }: NamedPlace, member: Member) {
  return { [type === 'folder' ? member : 'knowledge_base_id']: id } as { [M in Member | 'knowledge_base_id']?: number }
}

/** How a person is told of a place. */
export function labelOf({ type, id }: NamedPlace): string {
  return type === 'folder' ? `folders/${id}` : `knowledge base ${id}`
}
