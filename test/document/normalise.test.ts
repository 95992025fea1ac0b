import { normaliseBlocks, normaliseDocument } from '../../shared/body/normalise.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { t } from '../support/tap.ts'
import { blockId, node, p, text, withoutIds } from './build.ts'

const attachment = 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV'

function normalise(...content: unknown[]) {
  return normaliseDocument({ type: 'doc', content }, { from: 'json' })
}

function refusal(run: () => unknown): { code: string; status: number; details: unknown } | null {
  try {
    run()
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { code: error.code, status: error.status, details: error.details }
  }
}

t.test('an empty or missing content becomes one empty paragraph', async (t) => {
  t.equal(withoutIds(normalise().result), '{"type":"doc","content":[{"attrs":{},"type":"paragraph"}]}')
  t.equal(normaliseDocument({ type: 'doc' }, { from: 'json' }).result.content.length, 1)
})

t.test('valid ids are adopted, missing ones are made, and a second pass changes nothing', async (t) => {
  const once = normalise({ ...p('a'), attrs: { id: blockId('A') } }, p('b')).result
  t.equal(once.content[0]?.attrs.id, blockId('A'))
  t.match(once.content[1]?.attrs.id, /^block_[0-9A-HJKMNP-TV-Z]{26}$/)
  t.equal(JSON.stringify(normaliseDocument(once, { from: 'json' }).result), JSON.stringify(once))
})

t.test('texts are merged, empty ones dropped, marks put in order and defaults left out', async (t) => {
  const paragraph = node(
    'paragraph',
    { textAlign: null, nonsense: 1 },
    text('a', 'italic', 'bold'),
    text(''),
    text('b', 'bold', 'italic'),
  )
  const heading = node('heading', {}, 'h')
  t.equal(
    withoutIds(normalise(paragraph, heading).result.content),
    '[{"attrs":{},"content":[{"marks":[{"type":"bold"},{"type":"italic"}],"text":"ab","type":"text"}],"type":"paragraph"},' +
      '{"attrs":{"level":1},"content":[{"text":"h","type":"text"}],"type":"heading"}]',
  )
})

t.test('code keeps only a link beside it, and says what was lost', async (t) => {
  const { result, warnings } = normalise(p(text('x', 'bold', 'code', { type: 'link', attrs: { href: '/a' } })))
  t.match(result.content[0]?.content?.[0]?.marks, [{ type: 'code' }, { type: 'link', attrs: { href: '/a' } }])
  t.match(warnings, [{ code: 'marks_dropped', block_id: result.content[0]?.attrs.id }])
})

t.test('images turn into what their place takes', async (t) => {
  const { result } = normalise(p('a', node('image', { src: '/i.png' })), node('inlineImage', { src: '/i.png' }))
  t.equal(result.content[0]?.content?.[1]?.type, 'inlineImage')
  t.equal(result.content[1]?.type, 'image')
})

t.test('attachments and addresses of images name each other', async (t) => {
  const { result, attachments } = normalise(
    node('image', { attachmentId: attachment, src: 'https://elsewhere/' }),
    node('image', { src: `/api/v1/attachments/${attachment}` }),
  )
  for (const block of result.content)
    t.match(block.attrs, { attachmentId: attachment, src: `/api/v1/attachments/${attachment}` })
  t.match([...attachments], [[attachment, { path: '/content/0' }]])
  t.equal(attachments.size, 1)
})

t.test('addresses that could run or hide something never get in', async (t) => {
  const hidden = [
    ...['javascript:x', 'JAVA\nSCRIPT:x', ' \u0001javascript:x', 'java\u200bscript:x', 'vbscript:x'],
    ...['data:text/html,x', 'file:///x', '\u00adjavascript:x'],
  ]
  for (const href of hidden) {
    const { result, warnings } = normalise(p(text('x', { type: 'link', attrs: { href } })))
    t.equal(result.content[0]?.content?.[0]?.marks, undefined, href)
    t.match(warnings, [{ code: 'link_removed' }])
    t.match(
      refusal(() => normalise(node('image', { src: href }))),
      { code: 'invalid_node', status: 422 },
    )
    const fromMarkdown = normaliseDocument(
      { type: 'doc', content: [node('image', { src: href, alt: 'alt' })] },
      { from: 'markdown' },
    )
    t.match(fromMarkdown.warnings, [{ code: 'image_dropped' }])
    t.equal(fromMarkdown.result.content[0]?.content?.[0]?.text, 'alt')
  }
  for (const href of ['https://x', 'mailto:a@b', 'tel:1', 'svc://doc/doc_1', 'a/b', '#x', '//x', '']) {
    t.match(normalise(p(text('x', { type: 'link', attrs: { href } }))).warnings, [], href)
  }
})

t.test('each refusal names the node, the reason and the block', async (t) => {
  const own = blockId('A')
  const cases: [unknown[], string, object][] = [
    [[p('a'), { type: 'nope' }], 'invalid_node', { path: '/content/1' }],
    [
      [{ ...p({ type: 'image2' }), attrs: { id: own } }],
      'invalid_node',
      { path: '/content/0/content/0', block_id: own },
    ],
    [[p(text('x', 'blink'))], 'invalid_node', { path: '/content/0/content/0' }],
    [[node('bulletList')], 'invalid_node', { path: '/content/0' }],
    [[node('bulletList', {}, p('x'))], 'invalid_node', { path: '/content/0/content/0' }],
    [[node('heading', { level: 7 })], 'invalid_node', { path: '/content/0' }],
    [[node('blockMath')], 'invalid_node', { path: '/content/0' }],
    [[node('codeBlock', {}, text('x', 'bold'))], 'invalid_node', { path: '/content/0/content/0' }],
    [[p('a'), node('frontmatter', { yaml: '' })], 'invalid_node', { path: '/content/1' }],
    [[p('\ud800')], 'invalid_node', { path: '/content/0/content/0' }],
    [[p('a\u0000')], 'invalid_node', { path: '/content/0/content/0' }],
    [[node('blockMath', { latex: '\udc00' })], 'invalid_node', { path: '/content/0' }],
    [[node('paragraph', { id: 'block_x' })], 'invalid_block_id', { path: '/content/0' }],
    [
      [node('paragraph', { id: own }), node('paragraph', { id: own })],
      'duplicate_block_id',
      { path: '/content/1', block_id: own },
    ],
    [[node('image', { attachmentId: '../x' })], 'attachment_not_found', { path: '/content/0' }],
    [[null], 'invalid_node', { path: '/content/0' }],
    [[{ type: 'paragraph', content: {} }], 'invalid_node', { path: '/content/0' }],
    [[{ type: 'paragraph', attrs: [] }], 'invalid_node', { path: '/content/0' }],
    [[{ type: '__proto__' }], 'invalid_node', { path: '/content/0' }],
    [[{ type: 'doc' }], 'invalid_node', { path: '/content/0' }],
  ]
  for (const [content, code, details] of cases) {
    t.match(
      refusal(() => normalise(...content)),
      { code, status: 422, details },
      JSON.stringify(content),
    )
  }
  t.match(
    refusal(() => normaliseDocument([], { from: 'json', path: '/document' })),
    { details: { path: '/document' } },
  )
})

t.test('limits hold: depth 32, 20 000 nodes, the character cap', async (t) => {
  const nest = (levels: number): unknown => (levels === 0 ? p('x') : node('blockquote', {}, nest(levels - 1) as never))
  t.equal(normalise(nest(31)).nodes, 32)
  t.match(
    refusal(() => normalise(nest(32))),
    { code: 'invalid_node' },
  )
  t.match(
    refusal(() => normalise(nest(2000))),
    { code: 'invalid_node' },
  )
  t.equal(normalise(...Array(20_000).fill({ type: 'paragraph' })).nodes, 20_000)
  t.match(
    refusal(() => normalise(...Array(20_001).fill({ type: 'paragraph' }))),
    { details: { path: '/content/20000' } },
  )
  const content = { type: 'doc', content: [p('👩‍👩‍👧')] }
  t.equal(normaliseDocument(content, { from: 'json', characterLimit: 5 }).characters, 5)
  t.match(
    refusal(() => normaliseDocument(content, { from: 'json', characterLimit: 4 })),
    { code: 'document_too_large', details: { limit: 4, actual: 5 } },
  )
})

t.test('blocks to be inserted may be any node with an id, and nothing inline', async (t) => {
  t.equal(normaliseBlocks([node('listItem', {}, p('x'))], { from: 'json' }).result[0]?.type, 'listItem')
  t.match(
    refusal(() => normaliseBlocks([text('x')], { from: 'json', path: '/nodes' })),
    { details: { path: '/nodes/0' } },
  )
})
