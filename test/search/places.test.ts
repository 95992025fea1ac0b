import fc from 'fast-check'
import type { BodyNode } from '../../shared/body/document.ts'
import { sql } from '../../shared/database/database.ts'
import { p, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { runsTimes } from '../support/runs.ts'
import { searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { rewrite, startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)
const animals = ['otter', 'heron', 'walrus']

t.test('every hit names a block of the present body, whatever was written and moved before', async (t) => {
  const ada = await service.signUp()
  const { id } = await write(ada, [p('otter')])
  // A block is a text, or the number of a present block that is kept. Markdown gives all blocks new ids.
  const block = fc.oneof(fc.constantFrom(...animals, `${animals[0]} ${animals[1]}`), fc.nat(7))
  const bodies = fc.record({ blocks: fc.array(block, { minLength: 1, maxLength: 7 }), markdown: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(bodies, async ({ blocks, markdown }) => {
      const present = await blocksOf(ada, id)
      const once = blocks.filter((one, index) => typeof one === 'string' || blocks.indexOf(one) === index)
      const kept = once.map((one) => (typeof one === 'string' ? p(one) : present[one])).filter(isNode)
      const body = kept.length === 0 ? [p('otter')] : kept
      await rewrite(ada, id, markdown ? body.map(textOf).join('\n\n') : body)
      await untilFresh(ada)
      t.strictSame(await found(ada), await standing(ada, id))
    }),
    runsTimes(0.4),
  )
})

t.test('a text inside a list is named by its own id, and placed by the block around it', async (t) => {
  const ada = await service.signUp()
  const { id } = await write(ada, [p('nothing'), ul(p('a walrus'), p('an otter'))])
  await untilFresh(ada)
  const [, list] = await blocksOf(ada, id)
  const paragraphs = list?.content?.map((item) => item.content?.[0]?.attrs?.['id'])
  const hits = ['walrus', 'otter'].map(async (q) => (await searchV2(ada, { q })).results[0])
  t.match(
    await Promise.all(hits),
    paragraphs?.map((blockId) => ({ block_id: blockId, position: 1 })),
  )
})

t.test('a document that a worker of the version before has indexed is found with its block and position', async (t) => {
  const ada = await service.signUp()
  const { id } = await write(ada, [p('a heron'), p('a walrus')])
  await untilFresh(ada)
  const blocks = await blocksOf(ada, id)
  const ids = blocks.map(({ attrs }) => attrs?.['id'])
  // What that worker writes: ids in the rows and in the outline, and nothing in the columns that it does not know.
  await service.database.query(sql.unsafe`
    UPDATE search_documents SET indexed_at = now(), outline = ${JSON.stringify({ ids, headings: [] })}::jsonb
    WHERE document_id = ${id}`)
  await service.database.query(sql.unsafe`
    UPDATE search_blocks SET block_id = ${JSON.stringify(ids)}::jsonb ->> (ord / 65536 - 1)::int,
      top_block_id = ${JSON.stringify(ids)}::jsonb ->> (ord / 65536 - 1)::int, hash = 'another'
    WHERE document_id = ${id} AND ord > 0`)
  t.strictSame(await found(ada), await standing(ada, id))
  await rewrite(ada, id, [...blocks, p('an otter')])
  await untilFresh(ada)
  t.strictSame(await found(ada), await standing(ada, id), 'and after the next write')
})

type Place = { word: string; block_id: string; position: number }

/** The places of all hits for the animals, by position. */
async function found(client: Client): Promise<Place[]> {
  const places = animals.map(async (word) => {
    const { results } = await searchV2(client, { q: word, mode: 'exhaustive' })
    return results.map(({ block_id, position }: Place) => ({ word, block_id, position }))
  })
  return inOrder((await Promise.all(places)).flat())
}

/** The places of the animals in the present body, by position. */
async function standing(client: Client, id: string): Promise<Place[]> {
  const places = (await blocksOf(client, id)).flatMap((block, position) =>
    animals
      .filter((word) => textOf(block).includes(word))
      .map((word) => ({ word, block_id: String(block.attrs?.['id']), position })),
  )
  return inOrder(places)
}

function inOrder(places: Place[]): Place[] {
  return places.sort((a, b) => a.position - b.position || a.word.localeCompare(b.word))
}

async function blocksOf(client: Client, id: string): Promise<BodyNode[]> {
  return (await client.get(`/documents/${id}/content`)).body.data.document.content
}

function textOf(block: BodyNode): string {
  return block.content?.map(({ text }) => text ?? '').join('') ?? ''
}

function isNode(node: BodyNode | undefined): node is BodyNode {
  return node !== undefined
}
