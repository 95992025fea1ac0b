import { statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type FileLinks, isOutdated, linksToFile, linksToService, noLinks } from '../../../shared/cli/sync/links.ts'
import type { Client } from '../../support/client.ts'
import { runsTimes } from '../../support/runs.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { Machine } from './machine.ts'

const service = await sharedService()

t.test('links between files are links between documents, and lead to the same files elsewhere', async (t) => {
  const { ada, machine } = await newBase()
  const one = machine()
  const untouched = [
    '![herd](<Sub dir/Bee.md>)',
    '`[code](A.md)`',
    '[there](https://example.test/A.md)',
    '[no heading](A.md#water)',
    '[gone](Gone.md)',
    '[out](../../A.md)',
  ]
  one.write('A.md', `[to b](<Sub dir/Bee.md>), [short](Sub%20dir/Bee) and ${untouched.slice(1).join(', ')}\n`)
  one.write('Sub dir/Bee.md', 'Back to [A](../A.md "title") and [top](/A.md), see [ref].\n\n[ref]: ./Bee.md\n')
  t.match(await one.sync(), { failed: [], conflicts: [] })
  const [a, bee] = [await idOf(ada, 'A'), await idOf(ada, 'Bee')]
  const [textA, textBee] = [await markdown(ada, a), await markdown(ada, bee)]
  t.match(textA, `[to b](svc://doc/${bee}), [short](svc://doc/${bee})`)
  for (const text of untouched.slice(1)) t.match(textA, text)
  t.match(textBee, `[A](svc://doc/${a} "title") and [top](svc://doc/${a}), see [ref](svc://doc/${bee})`)
  t.match(one.read('A.md'), '[to b](<Sub dir/Bee.md>), [short](Sub%20dir/Bee)', 'links are spelled as before')
  t.match(one.read('Sub dir/Bee.md'), '[A](../A.md "title") and [top](/A.md), see [ref].\n\n[ref]: ./Bee.md\n')
  t.strictSame((await one.sync()).actions, [], 'then nothing is left to do')
  const two = machine()
  await two.sync()
  t.match(two.read('A.md'), '[to b](Sub%20dir/Bee.md), [short](Sub%20dir/Bee.md)')
  t.match(two.read('Sub dir/Bee.md'), '[A](../A.md "title") and [top](../A.md), see [ref](Bee.md)')
  one.edit('A.md', '[to b]', 'First [to b]')
  await one.sync()
  t.match(one.read('A.md'), 'First [to b](<Sub dir/Bee.md>), [short](Sub%20dir/Bee)', 'also after an edit')
  t.match(await two.sync(), { failed: [], conflicts: [] })
  t.match(two.read('A.md'), 'First [to b](Sub%20dir/Bee.md)')
  t.strictSame([...(await one.sync()).actions, ...(await two.sync()).actions], [], 'no folder spells for the other')
})

t.test('a link leads on when its document or its own file moves, on either side', async (t) => {
  const { ada, machine } = await newBase()
  const one = machine()
  one.write('A.md', 'See [b](B.md).\n')
  one.write('B.md', 'Text.\n')
  await one.sync()
  const [a, b] = [await idOf(ada, 'A'), await idOf(ada, 'B')]
  const linked = async () => t.match(await markdown(ada, a), `[b](svc://doc/${b})`)
  // The file that links is changed before it is written anew.
  one.move('B.md', 'Sub/B.md')
  one.write('A.md', one.read('A.md').replace('See', 'Look at'))
  await one.sync()
  await linked()
  t.match(one.read('A.md'), 'Look at [b](Sub/B.md)')
  one.move('A.md', 'Deep/er/A.md')
  await one.sync()
  await linked()
  t.match(one.read('Deep/er/A.md'), '[b](../../Sub/B.md)')
  await ada.patch(`/documents/${b}`, { title: 'B (new)' })
  await one.sync()
  t.match(one.read('Deep/er/A.md'), '[b](../../Sub/B%20%28new%29.md)')
  await linked()
  t.strictSame((await one.sync()).actions, [])
  await ada.delete(`/documents/${b}`)
  await one.sync()
  one.write('Deep/er/A.md', one.read('Deep/er/A.md').replace('Look', 'Please look'))
  await one.sync()
  t.match(await markdown(ada, a), `Please look at [b](`, 'a link whose document is gone keeps its words')
})

t.test('a link to a heading of another file leads to its block, and follows the name of the heading', async (t) => {
  const { ada, machine } = await newBase()
  const [one, two] = [machine(), machine()]
  // Both files are new, and the file that links comes first.
  one.write(
    'Bees.md',
    'They [drink](Sub/Zoo#water) and [eat](Sub/Zoo.md#food--drink "t"), [later](Sub/Zoo.md#night).\n',
  )
  one.write('Sub/Zoo.md', '# Water\n\nWet.\n\n## Food & *Drink*\n\nSee [bees](../Bees.md#water).\n')
  t.match(await one.sync(), { failed: [], conflicts: [] })
  const [bees, zoo] = [await idOf(ada, 'Bees'), await idOf(ada, 'Zoo')]
  const blockOf = async (slug: string) => {
    const { content } = (await ada.get(`/documents/${zoo}/content?format=markdown&annotate=anchors`)).body.data
    return new RegExp(`<!-- block=(\\S+) ${slug} -->`).exec(content)?.[1]
  }
  const [water, food] = [await blockOf('water'), await blockOf('food--drink')]
  const linked = `[drink](svc://doc/${zoo}#block=${water}) and [eat](svc://doc/${zoo}#block=${food} "t")`
  t.match(await markdown(ada, bees), `${linked}, [later](Sub/Zoo.md#night)`)
  t.match(one.read('Bees.md'), '[drink](Sub/Zoo#water) and [eat](Sub/Zoo.md#food--drink "t")', 'as it was spelled')
  t.strictSame((await one.sync()).actions, [], 'then nothing is left to do')
  await two.sync()
  t.match(two.read('Bees.md'), '[drink](Sub/Zoo.md#water) and [eat](Sub/Zoo.md#food--drink "t")')
  // The heading gets another name while the file that links is changed elsewhere.
  two.edit('Sub/Zoo.md', '# Water', '# Lake')
  two.edit('Bees.md', 'They', 'All')
  t.match(await two.sync(), { failed: [], conflicts: [] })
  t.match(await markdown(ada, bees), `All ${linked}`)
  t.match(two.read('Bees.md'), '[drink](Sub/Zoo.md#lake)')
  await one.sync()
  t.match(one.read('Bees.md'), 'All [drink](Sub/Zoo.md#lake)')
  one.edit('Sub/Zoo.md', '# Lake', '# Lake\n\nBig.\n\n# Night')
  t.match(await one.sync(), { failed: [], conflicts: [] })
  t.match(
    await markdown(ada, bees),
    `[later](svc://doc/${zoo}#block=${await blockOf('night')})`,
    'a heading that comes later',
  )
  await two.sync()
  t.match(two.read('Bees.md'), '[later](Sub/Zoo.md#night)')
  t.strictSame([...(await one.sync()).actions, ...(await two.sync()).actions], [])
})

t.test('a link finds the new document of a file whose document was deleted', async (t) => {
  const { ada, machine } = await newBase()
  const one = machine()
  one.write('A.md', 'See [b](B.md).\n')
  one.write('B.md', 'Text.\n')
  await one.sync()
  const [a, b] = [await idOf(ada, 'A'), await idOf(ada, 'B')]
  one.write('B.md', `${one.read('B.md')}\nMore.\n`)
  await ada.delete(`/documents/${b}`)
  await one.sync()
  const now = await idOf(ada, 'B')
  t.not(now, b)
  t.match(await markdown(ada, a), `[b](svc://doc/${now})`)
})

t.test('a file path that somebody wrote into a document is no change of both sides', async (t) => {
  const { ada, machine } = await newBase()
  const one = machine()
  one.write('A.md', 'First.\n')
  one.write('B.md', 'Text.\n')
  await one.sync()
  const a = await idOf(ada, 'A')
  const write = async (content: string) => {
    const { body } = await ada.get(`/documents/${a}/content?format=markdown&annotate=anchors`)
    const next = { format: 'markdown', content: body.data.content.replace(/(?<=-->\n)[\s\S]*$/, `${content}\n`) }
    const guard = { 'if-match': `"${body.data.version}"` }
    t.equal((await ada.put(`/documents/${a}/content`, next, guard)).status, 200)
  }
  await write('See [b](B.md).')
  await one.sync()
  await write('Look at [b](B.md).')
  t.match(await one.sync(), { conflicts: [], failed: [] })
  t.match(one.read('A.md'), 'Look at [b](B.md).')
})

t.test(
  'the links of a folder lead on when it moves, and links that were corrected are not written again',
  async (t) => {
    const { ada, machine } = await newBase()
    const one = machine()
    one.write('Zoo.md', 'See [ants](a/Ants).\n')
    one.write('a/Ants.md', 'To the [zoo](/Zoo.md) and [bees](./Bees.md).\n')
    one.write('a/Bees.md', 'To the [zoo](../Zoo.md).\n')
    await one.sync()
    one.move('a', 'b/c')
    one.edit('Zoo.md', '(a/Ants)', '(./b/c/Ants.md)')
    const before = statSync(join(one.root, 'Zoo.md'), { bigint: true })
    await one.sync()
    const after = statSync(join(one.root, 'Zoo.md'), { bigint: true })
    t.strictSame([after.ino, after.mtimeNs], [before.ino, before.mtimeNs], 'the corrected file is not written')
    t.match(one.read('b/c/Ants.md'), 'To the [zoo](/Zoo.md) and [bees](./Bees.md).')
    t.match(one.read('b/c/Bees.md'), 'To the [zoo](../../Zoo.md).')
    t.match(await markdown(ada, await idOf(ada, 'Zoo')), `[ants](svc://doc/${await idOf(ada, 'Ants')})`)
    t.strictSame((await one.sync()).actions, [])
  },
)

t.test('a definition inside of a quote is a link, and a new file takes over the links of a deleted one', async (t) => {
  const { ada, machine } = await newBase()
  const one = machine()
  one.write('Zoo.md', '> See [bees].\n>\n> [bees]: Bees.md\n')
  one.write('Bees.md', 'They fly.\n')
  await one.sync()
  const [zoo, first] = [await idOf(ada, 'Zoo'), await idOf(ada, 'Bees')]
  t.match(await markdown(ada, zoo), `[bees](svc://doc/${first})`)
  one.remove('Bees.md')
  await one.sync()
  one.write('Bees.md', 'Others, which sting.\n')
  await one.sync()
  const second = await idOf(ada, 'Bees')
  t.not(second, first)
  t.match(await markdown(ada, zoo), `[bees](svc://doc/${second})`, 'without a change of the file that links')
  one.edit('Zoo.md', 'See', 'Look at')
  await one.sync()
  t.match(await markdown(ada, zoo), `Look at [bees](svc://doc/${second})`)
  t.match(one.read('Zoo.md'), '> Look at [bees].\n>\n> [bees]: Bees.md\n')
})

t.test('every link of a text comes back from its file as it was', async (t) => {
  const name = fc.stringMatching(/^[A-Za-z0-9 ()%#?&äö_*'!~.,:-]{1,12}$/).filter((text) => !/^\.|^\s|\s$/.test(text))
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join('/')}.md`)
  const property = fc.asyncProperty(path, path, path, async (from, to, later) => {
    const id = 'doc_target'
    const places = (target: string) => ({
      idAt: (path: string) => (path === target ? id : undefined),
      pathOf: (asked: string) => (asked === id ? target : undefined),
      headingsOf: () => new Map([['water', 'block_0123456789ABCDEFGHJKMNPQRS']]),
    })
    const text = `A [link](svc://doc/${id}#block=block_0123456789ABCDEFGHJKMNPQRS "t") and [other](svc://doc/doc_x).\n`
    const written = await linksToFile(text, { path: from }, places(to))
    if (/svc:\/\/doc\/doc_target/.test(written.text)) throw new Error(`not translated: ${written.text}`)
    const read = (links: FileLinks, target: string) =>
      linksToService(written.text, { path: from, before: from, ...links }, places(target))
    t.equal(await read(noLinks, to), text)
    t.equal(await read(written, later), text, 'after a move')
    t.equal(isOutdated(written, from, places(later)), to !== later)
  })
  await fc.assert(property, runsTimes(0.6))
})

async function newBase() {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  return { ada, machine: () => new Machine(t, ada, { base }) }
}

async function idOf(client: Client, title: string): Promise<string> {
  const { data } = (await client.get('/documents?limit=100')).body
  return data.find((document: { title: string }) => document.title === title).id
}

async function markdown(client: Client, id: string): Promise<string> {
  return (await client.get(`/documents/${id}/content?format=markdown`)).body.data.content
}
