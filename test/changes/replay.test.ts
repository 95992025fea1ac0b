import fc from 'fast-check'
import { blockHash, documentToLines } from '../../shared/body/canonical.ts'
import type { DocNode } from '../../shared/body/document.ts'
import { compareLines, manifestOf, manifestStep } from '../../shared/body/manifest.ts'
import { growChain } from '../../shared/changes/project.ts'
import type { RecordedChange } from '../../shared/changes/schema.ts'
import { workersOf } from '../../workers/types.ts'
import { type Edit, edited, idFrom, normalised, randomBody, randomEdits } from '../document/yjs/random-body.ts'
import { LiveProcess, Site, textAt } from '../live/site.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'
import { Follower, replay } from './follower.ts'

t.test('a replayed batch leads to the next manifest, and moves no more blocks than it must', (t) => {
  fc.assert(
    fc.property(randomBody(), randomEdits(), fc.array(fc.nat(), { maxLength: 6 }), (body, edits, order) => {
      const next = shuffled(edited(body, edits, 1000), order)
      const changes = batchBetween(body, next)
      t.strictSame(replay(listed(body), changes), listed(next))
      const survivors = idsOf(next).filter((id) => idsOf(body).includes(id))
      const displaced = changes.filter(({ op, moved }) => op === 'moved' || moved).length
      if (displaced !== survivors.length - commonOrder(idsOf(body), survivors)) throw new Error('moves too many blocks')
    }),
  )
  t.end()
})

t.test('a block that goes to the front is the only one that moved', (t) => {
  const body = numbered(Array.from({ length: 100 }, (_, index) => index + 1))
  const changes = batchBetween(body, numbered([100, ...Array.from({ length: 99 }, (_, index) => index + 1)]))
  t.match(changes, [{ op: 'moved', block_id: idFrom(100), old_position: 99, new_position: 0 }])
  t.equal(changes.length, 1)
  t.end()
})

t.test('whoever follows a document knows every block of it, whatever many writers do at once', async (t) => {
  const site = await Site.start(t)
  await startWorkers(t, site.service, workersOf(['changes']))
  const histories = fc.tuple(randomBody(), fc.array(randomEdits(), { minLength: 3, maxLength: 8 }))
  await fc.assert(
    fc.asyncProperty(histories, async ([body, history]) => {
      const key = await site.create(body)
      const followers = [await new Follower(site.client, key.id).begin()]
      const live = await LiveProcess.open(site, key)
      const typing = async () => {
        for (let round = 0; round < 4; round += 1) {
          type(live, round)
          await live.flush()
        }
      }
      const writing = async (edits: Edit[], index: number) => {
        const follower = await new Follower(site.client, key.id).begin()
        followers.push(follower)
        await site.write(key, (current) => edited(current, edits, 1000 * (index + 1)))
        await follower.follow(1)
      }
      await Promise.all([typing(), ...history.map(writing)])
      const { manifest } = await new Follower(site.client, key.id).begin()
      for (const follower of followers) {
        while (typeof (await follower.follow(2)) !== 'number');
        t.strictSame(follower.manifest, manifest)
      }
    }),
    runsTimes(1 / 20),
  )
})

function type(live: LiveProcess, round: number): void {
  try {
    textAt(live.doc, 0).insert(0, `typed ${round} `)
  } catch {
    // The first block has no text of its own at this moment, so the flush stores only what others wrote.
  }
}

// Returns the changes that the worker derives from a write that replaced one body by the other.
function batchBetween(from: DocNode, to: DocNode) {
  const step = manifestStep(compareLines(documentToLines(from), documentToLines(to)))
  const manifest = { body_seq: 2, version: 'v2', changed_at: 0, step: JSON.stringify(step) }
  const source = { version: 'v2', body_seq: 2, title: '', knowledge_base_id: 1, locale: null }
  const growth = growChain({ ...source, chain: 1, projected_seq: 1, isPart: false, manifests: [manifest] })
  return JSON.parse(growth.batches[0]?.changes ?? '[]') as RecordedChange[]
}

function listed(body: DocNode) {
  const manifest = manifestOf(documentToLines(body))
  for (const { hash, position } of manifest) {
    if (hash !== blockHash(body.content[position] as DocNode['content'][number])) throw new Error('not the block hash')
  }
  return manifest.map(({ position: _, ...block }) => block)
}

function idsOf(body: DocNode): string[] {
  return body.content.map(({ attrs }) => attrs.id)
}

function shuffled(body: DocNode, order: readonly number[]): DocNode {
  const content = [...body.content]
  for (const place of order) {
    const [block] = content.splice(place % content.length, 1)
    if (block !== undefined) content.splice(place % 7, 0, block)
  }
  return normalised({ ...body, content })
}

function numbered(ids: number[]): DocNode {
  return normalised({ type: 'doc', content: ids.map((id) => ({ type: 'paragraph', attrs: { id: idFrom(id) } })) })
}

// Returns the length of the longest common subsequence, by dynamic programming.
function commonOrder(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0)
  for (const left of a) {
    const next = [0]
    for (const [index, right] of b.entries()) {
      next.push(left === right ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
