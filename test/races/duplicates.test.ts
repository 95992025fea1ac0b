import { node, p } from '../document/build.ts'
import { uploaded } from '../support/attachments.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, make, put } from '../support/documents.ts'
import { raceRounds } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp } = await sharedService()
const image = (attachmentId: string) => node('image', { attachmentId })

t.test('a duplicate made while its original is deleted is whole, or is refused', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { id } = await make(ada, [])
    const attachmentId = await uploaded(ada, { documentId: id })
    await put(ada, id, [image(attachmentId), p('text')])
    const duplicate = () => ada.post(`/documents/${id}/duplicate`)
    const [first, deletion, second] = await all([duplicate, () => ada.delete(`/documents/${id}`), duplicate], round)
    t.equal(deletion?.status, 204)
    for (const reply of [first, second]) {
      t.ok(reply?.status === 201 || reply?.status === 404, String(reply?.text))
      if (reply?.status === 201) t.strictSame(await imagesOf(ada, reply.body.data.id), [200])
    }
  }
})

t.test('a duplicate never shows a file of another document that is being deleted', async (t) => {
  const ada = await signUp()
  const keeper = await make(ada, [])
  for (const round of raceRounds) {
    const attachmentId = await uploaded(ada, { documentId: keeper.id })
    const { id } = await make(ada, [image(attachmentId), p('text')])
    const [reply, deletion] = await all(
      [
        () => ada.post(`/documents/${id}/duplicate`),
        () => ada.delete(`/attachments/${attachmentId}?force=true`),
        () => put(ada, id, [p('before'), image(attachmentId)]),
      ],
      round,
    )
    t.equal(deletion?.status, 204, String(deletion?.text))
    t.equal(reply?.status, 201, String(reply?.text))
    t.strictSame(await imagesOf(ada, reply?.body.data.id), [])
  }
})

t.test('a duplicate follows its original, or stands where it was, when the original and its folder move', async (t) => {
  const ada = await signUp()
  const bases: number[] = []
  for (const name of ['A', 'B']) bases.push((await ada.post('/knowledge-bases', { name })).body.data.id)
  const [a = 0, b = 0] = bases
  for (const round of raceRounds) {
    const folder = (await ada.post('/folders', { name: 'F', knowledge_base_id: a })).body.data.id
    const { id } = await make(ada, [p('text')], { folder_id: folder })
    const replies = await all(
      [
        () => ada.post(`/documents/${id}/duplicate`),
        () => ada.patch(`/folders/${folder}`, { knowledge_base_id: b }),
        () => ada.patch(`/documents/${id}`, { knowledge_base_id: b }),
        () => ada.post(`/documents/${id}/duplicate`),
      ],
      round,
    )
    for (const { status, text } of replies) t.ok(status === 200 || status === 201, text)
    for (const reply of replies.filter(({ status }) => status === 201)) {
      const { data } = (await ada.get(`/documents/${reply.body.data.id}`)).body
      t.ok(data.folder_id === null || data.folder_id === folder)
      if (data.folder_id === folder) t.equal(data.knowledge_base_id, b, 'the folder took the duplicate along')
    }
  }
})

// Sends all calls at once, in another order each round, and returns the answers in the order of the calls.
async function all(calls: readonly (() => Promise<Reply>)[], round: number): Promise<Reply[]> {
  const replies: Promise<Reply>[] = []
  for (let turn = 0; turn < calls.length; turn += 1) {
    const index = (turn + round) % calls.length
    replies[index] = (calls[index] as () => Promise<Reply>)()
  }
  return Promise.all(replies)
}

// The status of each attachment that the images of a body show.
async function imagesOf(client: Client, id: string): Promise<number[]> {
  const ids = (await bodyOf(client, id)).blocks.flatMap(({ attrs }) => attrs['attachmentId'] ?? [])
  return Promise.all(ids.map(async (attachmentId) => (await client.get(`/attachments/${attachmentId}`)).status))
}
