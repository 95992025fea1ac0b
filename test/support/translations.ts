import type { BodyNode } from '../../shared/body/document.ts'
import type { Client, Reply } from './client.ts'
import { bodyOf, type Made, make } from './documents.ts'

/** A unit as the API shows it. */
export type Unit = {
  id: string
  position: number
  block_type: string
  source_block_id: string
  source_text: string
  target_text: string | null
  target_block_ids: string[]
  status: string
  freshness: string
  origin: string | null
  [member: string]: unknown
}

/** A source and its translation into French. */
export type Translated = { source: Made; target: string; setId: string }

/** Makes a document of the given blocks with one translation, which by default has the structure of the source. */
export async function translate(
  client: Client,
  blocks: BodyNode[],
  options: { locale?: string; mode?: 'blank' | 'copy_structure' } = {},
): Promise<Translated> {
  const source = await make(client, blocks)
  const { locale = 'fr', mode = 'copy_structure' } = options
  const { data } = ok(
    await client.post(`/documents/${source.id}/translation/activate`, {
      source_locale: 'en',
      target_locales: [locale],
      create_mode: mode,
    }),
  )
  const target = data.variants.find((variant: { variant_role: string }) => variant.variant_role === 'translation').id
  return { source, target, setId: data.id }
}

/** The units of a translation. */
export async function unitsOf(client: Client, target: string, query = ''): Promise<Unit[]> {
  return ok(await client.get(`/documents/${target}/translation-units?target_document_id=${target}${query}`)).data
}

/** The statuses of the units of a translation, in the order of the source. */
export async function statusesOf(client: Client, target: string): Promise<string[]> {
  return (await unitsOf(client, target)).map(({ status }) => status)
}

/** Reviews a unit under the current version of the target. */
export async function review(client: Client, target: string, input: { unit: string; [member: string]: unknown }) {
  const { unit, ...body } = input
  const { etag } = await bodyOf(client, target)
  return client.patch(
    `/documents/${target}/translation-units/${unit}`,
    { target_document_id: target, ...body },
    { 'if-match': etag },
  )
}

/** Writes the text of one block. */
export async function edit(client: Client, documentId: string, input: { block: string; text: string }): Promise<void> {
  const content = input.text === '' ? [] : [{ type: 'text', text: input.text }]
  ok(await client.patch(`/documents/${documentId}/blocks/${input.block}`, { content }))
}

/** The envelope of a successful answer. Throws for any other answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into envelopes of every shape
export function ok(reply: Reply): any {
  if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
  return reply.body
}
