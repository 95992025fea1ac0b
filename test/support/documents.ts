import type { Test } from 'tap'
import Type from 'typebox'
import type { BlockNode, BodyNode, DocNode } from '../../shared/body/document.ts'
import { type Database, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { withoutIds } from '../document/build.ts'
import type { Client, Reply } from './client.ts'

/** A document that a test has made, with its first body. */
export type Made = { id: string; etag: string; version: string; blocks: BlockNode[] }

/** Creates a document of the given blocks, in the default knowledge base unless `members` say otherwise. */
export async function make(client: Client, blocks: BodyNode[], members: object = {}): Promise<Made> {
  const content = { format: 'tiptap-json', document: { type: 'doc', content: blocks } }
  const reply = await client.post('/documents', { title: 'Document', content, ...members })
  if (reply.status !== 201) throw new Error(`POST /documents answered ${reply.status}: ${reply.text}`)
  return bodyOf(client, reply.body.data.id)
}

/** Reads the body of a document over the API. */
export async function bodyOf(client: Client, id: string): Promise<Made> {
  const { headers, body } = await client.get(`/documents/${id}/content`)
  return { id, etag: String(headers.get('etag')), version: body.data.version, blocks: body.data.document.content }
}

/** Writes a whole body as tiptap-json with the given precondition; by default any version is right. */
export function put(client: Client, id: string, blocks: BodyNode[], etag = '*'): Promise<Reply> {
  const body = { format: 'tiptap-json', document: { type: 'doc', content: blocks } }
  return client.put(`/documents/${id}/content`, body, { 'if-match': etag })
}

/** The blocks without their ids, for comparing contents. */
export function shape(blocks: readonly BodyNode[] | DocNode): unknown {
  return JSON.parse(withoutIds(blocks))
}

/** Asserts the status and the code of a refusal and, if `details` are given, exactly these details. */
export function refused(t: Test, reply: Reply, expected: { status: number; code: string; details?: object }): void {
  const { code, details } = reply.body?.error ?? {}
  const given =
    expected.details === undefined ? { status: reply.status, code } : { status: reply.status, code, details }
  t.strictSame(unordered(given), unordered(expected), `${expected.status} ${expected.code}`)
}

// The API promises no order of the blocks that a conflict names.
function unordered(refusal: { details?: { changed_block_ids?: unknown[] } }): object {
  const { details } = refusal
  if (details?.changed_block_ids === undefined) return refusal
  return { ...refusal, details: { ...details, changed_block_ids: [...details.changed_block_ids].sort() } }
}

const EventName = row(Type.Object({ name: Type.String() }))

/** The names of a document's events, in the order of their recording. */
export async function eventsOf(database: Database, id: string): Promise<readonly string[]> {
  return database.anyFirst(sql.type(EventName)`
    SELECT name FROM events WHERE document_id = ${id} ORDER BY row_no`)
}
