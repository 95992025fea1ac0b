import { samples, uploaded } from '../../support/attachments.ts'
import type { Client } from '../../support/client.ts'
import { sharedService } from '../../support/service.ts'
import { type Test, t } from '../../support/tap.ts'
import { exported } from '../../support/zips.ts'
import { Machine } from './machine.ts'

/* What happens in a folder and in the service while a sync is on its way, and what a refused file must not break. */

const service = await sharedService({ QUOTA_DOCUMENTS: '20' })

t.test('who saves a file twice has no conflict with what was saved first', async (t) => {
  const { ada, one, during } = await begin(t)
  one.write('A.md', 'One.\n')
  await one.sync()
  const [document] = await documents(ada)
  one.write('A.md', `${one.read('A.md')}\nTwo.\n`)
  during('PUT', () => one.write('A.md', `${one.read('A.md').trimEnd()} Three.\n\nFour.\n`))
  for (const _ of ['first', 'second']) t.match(await one.sync(), { conflicts: [], failed: [] })
  t.strictSame(one.copies(), [])
  const { body } = await ada.get(`/documents/${document?.id}/content?format=markdown`)
  t.equal(body.data.content, 'One.\n\nTwo. Three.\n\nFour.\n')
  t.match(one.read('A.md'), /One\.[\s\S]*Two\. Three\.[\s\S]*Four\./)
})

t.test('a file that is gone for a moment keeps its document', async (t) => {
  const { ada, one, during } = await begin(t)
  for (let n = 0; n < 11; n += 1) one.write(`${n}.md`, `Text ${n}.\n`)
  await one.sync()
  const before = await documents(ada)
  const text = one.read('3.md')
  one.remove('3.md')
  one.write('New.md', 'New.\n')
  during('POST', () => one.write('3.md', text))
  t.match(await one.sync(), { failed: [] })
  const after = await documents(ada)
  t.strictSame(
    before.filter(({ id }) => !after.some((document) => document.id === id)),
    [],
  )
  t.equal(after.length, 12)
})

t.test('a file that was renamed over another, or deleted beside its twin in other case, is finished', async (t) => {
  for (const hasIds of [true, false]) {
    const { ada, one, base } = await begin(t)
    const content = { format: 'markdown', content: 'Text.\n' }
    for (const title of ['One', 'Two', 'Case', 'case']) {
      if (!hasIds) one.write(`${title}.md`, `${title}.\n`)
      else await ada.post('/documents', { title, knowledge_base_id: base, content })
    }
    await one.sync()
    const before = await documents(ada)
    const idOf = (title: string) => before.find((document) => document.title === title)?.id
    one.move('One.md', 'Two.md')
    t.match(await one.sync(), { failed: [], conflicts: [] })
    const twin = one.files().find((path) => /^case/.test(path)) ?? ''
    one.remove(twin)
    t.match(await one.sync(), { failed: [], conflicts: [] })
    t.strictSame((await one.sync()).actions, [])
    const after = (await documents(ada)).map(({ id, title }) => `${id} ${title}`).sort()
    t.strictSame(after, [`${idOf('Case')} Case`, `${idOf('One')} Two`].sort())
    t.strictSame(one.files(), ['Case.md', 'Two.md'])
  }
})

t.test('an edited copy that takes the place of its original belongs to the document of the original', async (t) => {
  for (const hasIds of [true, false]) {
    for (const isSynced of [true, false]) {
      const { ada, one, base } = await begin(t)
      const content = { format: 'markdown', content: 'Text.\n' }
      if (hasIds) await ada.post('/documents', { title: 'Note', knowledge_base_id: base, content })
      else one.write('Note.md', 'Text.\n')
      await one.sync()
      const [note] = await documents(ada)
      one.write('Note new.md', one.read('Note.md'))
      await one.sync()
      one.write('Note new.md', one.read('Note new.md').replace('Text.', 'Edited.'))
      if (isSynced) await one.sync()
      one.move('Note new.md', 'Note.md')
      t.match(await one.sync(), { failed: [], conflicts: [] })
      t.strictSame((await one.sync()).actions, [])
      t.strictSame(
        (await documents(ada)).map(({ id, title }) => [id, title]),
        [[note?.id, 'Note']],
      )
      const { body } = await ada.get(`/documents/${note?.id}/content?format=markdown`)
      t.equal(body.data.content, 'Edited.\n')
      t.strictSame(one.files(), ['Note.md'])
    }
  }
  const { ada, one } = await begin(t)
  one.write('Note.md', 'Text.\n')
  await one.sync()
  const [note] = await documents(ada)
  one.write('Note new.md', 'Text.\n')
  await one.sync()
  one.write('Note new.md', 'Edited.\n')
  await one.sync()
  one.move('Note.md', 'Note old.md')
  one.move('Note new.md', 'Note.md')
  t.match(await one.sync(), { failed: [], conflicts: [] })
  const titles = (await documents(ada)).map(({ id, title }) => `${title} ${id === note?.id}`).sort()
  t.strictSame(titles, ['Note false', 'Note old true'], 'an original that was put aside keeps its document')
})

t.test(
  'a file with conflict markers is left alone until they are gone, and code that shows them is text',
  async (t) => {
    const { ada, one } = await begin(t)
    const conflict = '<<<<<<< HEAD\nMine.\n=======\nTheirs.\n>>>>>>> branch\n'
    const left = {
      'A.md': conflict,
      'B.md': `# B\n\n${conflict.replaceAll('\n', '\r\n')}`,
      'C.md': `~~~\nx\n~~~\n${conflict}`,
    }
    const synced = {
      'D.md': `\`\`\`\n${conflict}\`\`\`\n`,
      'E.md': 'Title\n=======\n',
      'F.md': '<<<<<<< HEAD\nMine.\n',
    }
    for (const [path, text] of Object.entries({ ...left, ...synced })) one.write(path, text)
    const { left_alone } = await one.sync()
    t.strictSame(
      left_alone,
      Object.keys(left).map((path) => ({ path, reason: 'conflict_markers' })),
    )
    for (const [path, text] of Object.entries(left)) t.equal(one.read(path), text)
    t.strictSame((await documents(ada)).map(({ title }) => title).sort(), ['D', 'E', 'F'])
    one.write('D.md', conflict)
    t.match(await one.sync(), { left_alone: { length: 4 }, actions: [] })
    one.write('A.md', 'Mine.\n')
    await one.sync()
    t.equal((await documents(ada)).length, 4)
  },
)

t.test('the Markdown of an unpacked export is in step with the documents that it was made of', async (t) => {
  const { ada, one, base } = await begin(t)
  const made = async (title: string) => (await ada.post('/documents', { title, knowledge_base_id: base })).body.data.id
  const [a, b] = [await made('A'), await made('B')]
  const picture = `/api/v1/attachments/${await uploaded(ada, { documentId: a, bytes: samples.png })}`
  const content = `[b](svc://doc/${b}) ![p](${picture}) <img src="${picture}"> <a href="svc://doc/${b}">b</a>\n`
  await ada.put(`/documents/${a}/content`, { format: 'markdown', content }, { 'if-match': '*' })
  const { files } = await exported(ada, base)
  for (const [path, bytes] of files) if (path.startsWith('markdown/')) one.write(path.slice(9), String(bytes))
  t.match(one.read(`A--${a}.md`), '<img src="../attachments/')
  t.match(await one.sync(), { failed: [], conflicts: [] })
  const { body } = await ada.get(`/documents/${a}/content?format=markdown`)
  t.equal(body.data.content, content, 'the pictures of the document are still those of the service')
})

t.test('a file that disappears meanwhile does not keep the others from the service', async (t) => {
  const { ada, one, during } = await begin(t)
  for (let n = 0; n < 9; n += 1) one.write(`${n}.md`, `Text ${n}.\n`)
  during('POST', () => one.remove('8.md'))
  t.match(await one.sync(), { failed: [] })
  t.ok((await documents(ada)).length >= 8)
})

t.test('where there is room for no more documents, deletions still arrive and make room', async (t) => {
  const { ada, one, requests } = await begin(t)
  for (let n = 0; n < 20; n += 1) one.write(`${n}.md`, `Text ${n}.\n`)
  await one.sync()
  t.equal(requests.length, 2 + 2 * 20, 'a first sync lists once, and sends and reads each document once')
  one.remove('3.md')
  one.write('New.md', 'New.\n')
  requests.length = 0
  for (let n = 0; n < 30; n += 1) one.write(`More ${n}/${n}.md`, 'More.\n')
  const { failed } = await one.sync()
  t.match([failed.length, failed[0]], [31, { code: 'quota_exceeded', message: /20 of 20 documents/ }])
  const tried = requests.filter((request) => request === 'POST /api/v1/documents')
  t.ok(tried.length <= 6, `a full quota is not tried for each file, but ${tried.length} times`)
  for (let n = 0; n < 30; n += 1) one.remove(`More ${n}`)
  t.match(await one.sync(), { failed: [] })
  t.strictSame(
    (await documents(ada)).map(({ title }) => title).filter((title) => ['3', 'New'].includes(title)),
    ['New'],
  )
})

t.test('a file that is refused doubles no folder, and undoes no renaming of others', async (t) => {
  const { ada, one } = await begin(t)
  one.write('Refused.md', `# ${'x'.repeat(600_000)}\n`)
  one.write('Why?/A.md', 'One.\n')
  for (const name of ['B', 'C', 'D']) {
    t.match(await one.sync(), { failed: [{ path: 'Refused.md' }] })
    one.write(`Why?/${name}.md`, 'Another.\n')
  }
  await one.sync()
  const [folder, ...others] = await folders(ada, one)
  t.strictSame(others, [])
  await ada.patch(`/folders/${folder?.id}`, { name: 'Because' })
  await one.sync()
  t.strictSame(await folders(ada, one), [{ id: folder?.id, name: 'Because' }])
  t.match(one.files(), ['Because/A.md', 'Because/B.md', 'Because/C.md', 'Because/D.md', 'Refused.md'])
})

async function begin(t: Test) {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const hooks = new Map<string, () => void>()
  const requests: string[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const [method = 'GET', url] = [init?.method, String(input)]
    requests.push(`${method} ${new URL(url).pathname}`)
    const hook = url.includes('dry_run') ? undefined : hooks.get(method)
    if (hook !== undefined) hooks.delete(method)
    const response = await globalThis.fetch(input, init)
    hook?.()
    return response
  }
  // Does something when the first request with a method was answered.
  const during = (method: string, hook: () => void) => void hooks.set(method, hook)
  return { ada, base, one: new Machine(t, ada, { base, fetch }), during, requests }
}

async function documents(client: Client): Promise<{ id: string; title: string }[]> {
  return (await client.get('/documents?limit=100')).body.data
}

async function folders(client: Client, { target }: Machine): Promise<{ id: number; name: string }[]> {
  const { body } = await client.get(`/knowledge-bases/${target.knowledge_base_id}/tree`)
  const nodes: { type: string; id: number; name: string }[] = body.data.children
  return nodes.filter(({ type }) => type === 'folder').map(({ id, name }) => ({ id, name }))
}
