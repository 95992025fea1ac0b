import fc from 'fast-check'
import { type Block, KnowledgeBase, type NodeInput } from '../../shared/client/client.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { origin, signUp } = await sharedService()
const { token } = await signUp()
const proxy = await startFaultyProxy(t, origin)
const kb = new KnowledgeBase({ origin: proxy.origin, token, maxRetries: 8, maxRetryDelay: 20 })

async function make(...paragraphs: string[]): Promise<string> {
  const content = { format: 'markdown' as const, content: paragraphs.join('\n\n') }
  return (await kb.api.POST('/documents', { body: { title: 'one', content } })).data.id
}

async function texts(id: string): Promise<string[]> {
  const { data } = await kb.api.GET('/documents/{id}/blocks', { params: { path: { id } } })
  return data.map(({ text }) => text)
}

function withText(text: string): NodeInput {
  return { type: 'paragraph', content: [{ type: 'text', text }] }
}

t.test('nobody loses a word when writers edit the same blocks over a faulty network', async (t) => {
  const faults = fc.constantFrom(null, null, null, 'cut-before' as const, 'cut-after' as const)
  const writer = fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(writer, { minLength: 2, maxLength: 4 }),
      fc.infiniteStream(faults),
      async (writers, network) => {
        const id = await make('a', 'b', 'c')
        const blocks = (await kb.api.GET('/documents/{id}/blocks', { params: { path: { id } } })).data
        proxy.choose = ({ path }) => {
          const kind = path.endsWith('/batch') ? network.next().value : null
          return kind === null ? null : { kind }
        }
        const expected: string[][] = [[], [], []]
        const work = writers.map(async (edits, name) => {
          for (const [turn, index] of edits.entries()) {
            const word = `w${name}.${turn}`
            expected[index]?.push(word)
            const blockId = blocks[index]?.block_id
            await kb.edit(id, ({ text }) => withText(`${text} ${word}`), { blockId, maxConflicts: 100 })
          }
        })
        await Promise.all(work)
        proxy.choose = () => null
        const found = (await texts(id)).map((text) => text.split(' ').slice(1).sort())
        t.strictSame(
          found,
          expected.map((words) => words.sort()),
        )
      },
    ),
    runsTimes(1 / 4),
  )
})

t.test('an edit of one block is not disturbed elsewhere, and starts over when the block has changed', async (t) => {
  const id = await make('one', 'two', 'three')
  const seen: string[] = []
  let other = ['elsewhere', 'here']
  const { changedBlockIds } = await kb.edit(id, async (block) => {
    if (block.position !== 1) return undefined
    seen.push(block.text)
    const [next] = other
    other = other.slice(1)
    if (next === 'elsewhere') await kb.edit(id, ({ position }) => (position === 0 ? withText('uno') : undefined))
    if (seen.length === 1) await kb.edit(id, ({ position }) => (position === 1 ? withText('dos') : undefined))
    return withText(`${block.text}!`)
  })
  t.strictSame(seen, ['two', 'dos'])
  t.strictSame(await texts(id), ['uno', 'dos!', 'three'])
  t.equal(changedBlockIds.length, 1)
})

t.test('an edit of more blocks than one write takes changes each of them once', async (t) => {
  const id = await make(...Array.from({ length: 230 }, (_, index) => `p${index}`))
  const { changedBlockIds } = await kb.edit(id, ({ text }) => (text === 'p7' ? null : withText(`${text}!`)))
  t.equal(changedBlockIds.length, 230)
  const after = await texts(id)
  t.equal(after.length, 229)
  t.strictSame(new Set(after.map((text) => text.replace(/[^!]/g, ''))), new Set(['!']))
})

t.test('an edit that never comes to an end is a conflict that names the block', async (t) => {
  const id = await make('one')
  let count = 0
  const disturbed = async (block: Block) => {
    count += 1
    const node = withText(`other ${count}`)
    await kb.api.POST('/documents/{id}/batch', {
      params: { path: { id } },
      body: { operations: [{ op: 'replace', block_id: block.block_id, node }] },
    })
    return withText('mine')
  }
  const error = await kb.edit(id, disturbed, { maxConflicts: 2 }).then(
    () => null,
    (error: unknown) => error,
  )
  t.match(error, { code: 'version_conflict', status: 409, details: { block_id: /^block_/ } })
  t.equal(count, 3)
  t.strictSame(await texts(id), ['other 3'])
  await t.rejects(
    kb.edit(id, () => null, { blockId: 'block_01J9Z3V5K8Q2W4E6R7T9Y1P3S5' }),
    { code: 'block_not_found' },
  )
})

t.test('an edit that changes nothing writes nothing', async (t) => {
  const id = await make('one')
  const before = proxy.seen.length
  const { changedBlockIds } = await kb.edit(id, ({ node }) => node as NodeInput)
  t.strictSame(changedBlockIds, [])
  t.strictSame(
    proxy.seen.slice(before).map(({ method }) => method),
    ['GET'],
  )
})
