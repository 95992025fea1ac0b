import type { BlockNode } from '../../shared/body/document.ts'
import { plainText } from '../../shared/body/text.ts'
import { blockId, h, p, ul } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, make, refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp } = await sharedService()

t.test('a block is replaced by Markdown and keeps its id, as do the blocks in it that stay', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'Water'), ul(p('one'), p('two')), p('end')])
  const [, list, end] = made.blocks as [BlockNode, BlockNode, BlockNode]
  const markdown = '- one\n- three\n\nand a paragraph'
  const reply = await edit(ada, made.id, { op: 'replace_block', block_id: list.attrs.id, markdown })
  t.equal(reply.status, 200, reply.text)
  const { blocks } = await bodyOf(ada, made.id)
  const [, newList, added, last] = blocks as [BlockNode, BlockNode, BlockNode, BlockNode]
  t.equal(newList.attrs.id, list.attrs.id)
  const paragraphIn = (block: BlockNode) => block.content?.[0]?.content?.[0]?.attrs?.['id']
  t.equal(paragraphIn(newList), paragraphIn(list), 'the paragraph that stays keeps its id')
  t.equal(plainText(added), 'and a paragraph')
  t.equal(last.attrs.id, end.attrs.id)
  t.strictSame(reply.body.data.applied, [{ index: 0, block_ids: [list.attrs.id, added.attrs.id], count: 2 }])
})

t.test('blocks are inserted beside a block and deleted, all in one change', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('first'), ul(p('one')), p('last')])
  const [first, list, last] = made.blocks.map((block) => block.attrs.id) as [string, string, string]
  const reply = await edit(
    ada,
    made.id,
    { op: 'insert', before_block_id: first, markdown: '# Title' },
    { op: 'insert', after_block_id: first, markdown: 'second\n\nthird' },
    { op: 'delete_block', block_id: list },
    { op: 'replace', find: 'last', replace: 'end', block_id: last },
  )
  t.equal(reply.status, 200, reply.text)
  const { blocks } = await bodyOf(ada, made.id)
  t.strictSame(blocks.map(plainText), ['Title', 'first', 'second', 'third', 'end'])
  t.match(reply.body.data.applied, [{ count: 1 }, { count: 2 }, { block_ids: [list], count: 1 }, { block_ids: [last] }])
})

t.test(
  'the hash of a block guards an edit: a change of the block is a conflict, a change elsewhere is none',
  async (t) => {
    const ada = await signUp()
    for (const op of ['replace', 'replace_block', 'delete_block'] as const) {
      const made = await make(ada, [p('first'), p('second')])
      const [one, two] = made.blocks.map((block) => block.attrs.id) as [string, string]
      const { body } = await ada.get(`/documents/${made.id}/blocks/${one}`)
      const guarded = {
        replace: { op, find: 'first', replace: 'mine', block_id: one, if_match: body.data.hash },
        replace_block: { op, markdown: 'mine', block_id: one, if_match: body.data.hash },
        delete_block: { op, block_id: one, if_match: body.data.hash },
      }[op]
      await edit(ada, made.id, { op: 'replace', find: 'first', replace: 'first of all', block_id: one })
      const conflict = await edit(ada, made.id, { op: 'append', markdown: 'kept out' }, guarded)
      refused(t, conflict, { status: 409, code: 'version_conflict' })
      const present = (await ada.get(`/documents/${made.id}/blocks/${one}`)).body.data
      t.match(conflict.body.error.details, { current_hash: present.hash, block_id: one, operation_index: 1 })
      t.equal((await bodyOf(ada, made.id)).blocks.length, 2, 'nothing of the refused request is stored')
      await edit(ada, made.id, { op: 'replace', find: 'second', replace: 'elsewhere', block_id: two })
      const again = await edit(ada, made.id, { ...guarded, if_match: present.hash })
      t.equal(again.status, 200, again.text)
    }
  },
)

t.test('an edit of a block that cannot be done says why, and changes nothing', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('text'), ul(p('one'))])
  const [paragraph, list] = made.blocks as [BlockNode, BlockNode]
  const id = paragraph.attrs.id
  const item = list.content?.[0]?.attrs?.['id']
  const unknown = { status: 422, code: 'block_not_found' }
  refused(t, await edit(ada, made.id, { op: 'delete_block', block_id: blockId('9') }), unknown)
  refused(t, await edit(ada, made.id, { op: 'insert', after_block_id: blockId('9'), markdown: 'x' }), unknown)
  refused(t, await edit(ada, made.id, { op: 'replace_block', block_id: blockId('9'), markdown: 'x' }), unknown)
  const empty = await edit(ada, made.id, { op: 'replace_block', block_id: id, markdown: ' \n' })
  refused(t, empty, { status: 422, code: 'invalid_node' })
  const misplaced = { status: 422, code: 'invalid_position' }
  refused(t, await edit(ada, made.id, { op: 'replace_block', block_id: item, markdown: '# heading' }), misplaced)
  const both = { op: 'insert', markdown: 'x', before_block_id: id, after_block_id: id }
  refused(t, await edit(ada, made.id, both), { status: 400, code: 'invalid_request' })
  refused(t, await edit(ada, made.id, { op: 'insert', markdown: 'x' }), { status: 400, code: 'invalid_request' })
  const twice = `<!-- block=${list.attrs.id} -->\ncopy`
  refused(t, await edit(ada, made.id, { op: 'replace_block', block_id: id, markdown: twice }), {
    status: 422,
    code: 'duplicate_block_id',
  })
})

t.test('a block replaced by its own Markdown keeps what Markdown cannot say', async (t) => {
  const ada = await signUp()
  const centred = { type: 'paragraph', attrs: { textAlign: 'center' }, content: [{ type: 'text', text: 'middle' }] }
  const made = await make(ada, [centred as never])
  const id = made.blocks[0]?.attrs.id
  await edit(ada, made.id, { op: 'replace_block', block_id: id, markdown: 'middle' })
  t.match((await bodyOf(ada, made.id)).blocks, [{ attrs: { id, textAlign: 'center' } }])
})

t.test('annotated Markdown of a part has the id and the hash that guard each block', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'Water'), p('one'), p('two')])
  const blocks = (await ada.get(`/documents/${made.id}/blocks`)).body.data
  for (const annotate of ['anchors', 'hashes'] as const) {
    const { body } = await ada.get(`/documents/${made.id}/read?annotate=${annotate}`)
    for (const { block_id, hash } of blocks) {
      const comment = annotate === 'anchors' ? `<!-- block=${block_id} -->` : `<!-- block=${block_id} ${hash} -->`
      t.match(body.data.content, comment)
    }
    const input = { format: 'markdown', content: body.data.content }
    const again = await ada.put(`/documents/${made.id}/content`, input, { 'If-Match': '*' })
    t.equal(again.body.data.version, made.version, 'writing it back changes nothing')
  }
})

function edit(client: Client, id: string, ...edits: object[]): Promise<Reply> {
  return client.post(`/documents/${id}/content/edit`, { edits })
}
