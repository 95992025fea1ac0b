import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TreeNode } from '../../shared/knowledge-bases/schema.ts'
import { summariseTree } from '../../shared/summaries/tree.ts'
import { WorkCounter } from '../hostile/work.ts'
import type { Client } from '../support/client.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { write } from '../support/workers.ts'

const service = await sharedService()

t.test(
  'a tree with many summaries is written in slices, so that others are answered between them',
  onlyLong,
  async (t) => {
    const ada = await service.signUp()
    const trees = [await treeOf(ada, 4), await treeOf(ada, 16)] as const
    // While work is counted, everything takes several times as long.
    const counter = new WorkCounter()
    t.teardown(() => counter.end())
    const small = await longestSlice(trees[0], counter)
    const large = await longestSlice(trees[1], counter)
    t.ok(large < 2 * small, `${small} blocks for 4 folders of 30 documents, ${large} for 16`)
  },
)

const headings = Array.from({ length: 20 }, (_, index) => `# Chapter ${index}\n\n`).join('')

/** Makes a knowledge base with folders of thirty documents each, whose digests are stored. */
async function treeOf(client: Client, folders: number) {
  const base = (await client.post('/knowledge-bases', { name: 'Zoo' })).body.data
  for (let index = 0; index < folders; index += 1) {
    const folder = await client.post('/folders', { name: `Folder ${index}`, knowledge_base_id: base.id })
    const place = { knowledge_base_id: base.id, folder_id: folder.body.data.id }
    await Promise.all(Array.from({ length: 30 }, () => write(client, `${headings}Words of a book.`, place)))
  }
  const { knowledge_base, children } = (await client.get(`/knowledge-bases/${base.id}/tree`)).body.data
  const tree = { knowledge_base, children: children as TreeNode[] }
  await summariseTree(service.database, tree)
  return tree
}

/** Returns the most work that this thread does for the summaries between two turns of its event loop. */
async function longestSlice(tree: Parameters<typeof summariseTree>[1], counter: WorkCounter): Promise<number> {
  let [longest, isDone] = [0, false]
  counter.take()
  const text = summariseTree(service.database, tree).finally(() => {
    isDone = true
  })
  while (!isDone) {
    await nextTurn()
    longest = Math.max(longest, counter.take().total)
  }
  await text
  return longest
}
