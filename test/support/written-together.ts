import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { linesToDocument } from '../../shared/body/canonical.ts'
import type { BlockNode, BodyNode } from '../../shared/body/document.ts'
import { isBlockType } from '../../shared/body/nodes.ts'
import { type Database, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import type { Client } from './client.ts'
import { bodyOf } from './documents.ts'
import type { WrittenPage } from './written-page.ts'

// The longest wait in milliseconds until everybody has the same.
const patienceMs = 60_000

/**
 * Waits until the API, the stored body and all pages have the same blocks, and returns these blocks. Throws an error
 * with all that they have when they do not agree in time, and when two blocks have one id.
 */
export async function agreement(parts: {
  database: Database
  client: Client
  id: string
  pages: readonly WrittenPage[]
}): Promise<BlockNode[]> {
  const { database, client, id, pages } = parts
  const limit = Date.now() + patienceMs
  for (;;) {
    const shown = await Promise.all(pages.map((page) => page.blocks()))
    const answered = (await bodyOf(client, id)).blocks
    const all = [answered, await storedBlocks(database, id), ...shown].map((blocks) => JSON.stringify(blocks))
    if (new Set(all).size === 1) {
      const ids = blockIdsIn(answered)
      if (new Set(ids).size < ids.length) throw new Error(`Two blocks have one id:\n${all[0]}`)
      return answered
    }
    if (Date.now() > limit) throw new Error(`The API, the stored body and the pages differ:\n${all.join('\n')}`)
    await sleep(50)
  }
}

/** The ids of all blocks among these blocks and in them, in the order of the document. */
export function blockIdsIn(blocks: readonly BodyNode[]): string[] {
  return blocks.flatMap(({ type, attrs, content }) => [
    ...(isBlockType(type) ? [String(attrs?.['id'])] : []),
    ...blockIdsIn(content ?? []),
  ])
}

/** Pastes HTML at the selection of a page. */
export function pasteHtml(page: WrittenPage, html: string): Promise<void> {
  return paste(page, { 'text/html': html })
}

/** Pastes text at the selection of a page. */
export function pasteText(page: WrittenPage, text: string): Promise<void> {
  return paste(page, { 'text/plain': text })
}

async function paste({ page }: WrittenPage, clipboard: { [type: string]: string }): Promise<void> {
  await page.evaluate(`{
    const data = new DataTransfer()
    for (const [type, content] of Object.entries(${JSON.stringify(clipboard)})) data.setData(type, content)
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
    document.querySelector('.ProseMirror').dispatchEvent(event)
  }`)
}

const BodyRow = row(Type.Object({ body: Type.String() }))

async function storedBlocks(database: Database, id: string): Promise<BlockNode[]> {
  const { body } = await database.one(sql.type(BodyRow)`
    SELECT b.body FROM documents d JOIN document_bodies b ON b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE d.id = ${id}`)
  return linesToDocument(body.split('\n')).content
}
