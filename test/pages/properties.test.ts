import fc from 'fast-check'
import { isWritable, kindOf, readValue, stateOf, writtenValue } from '../../api/pages/properties/values.ts'
import { sql } from '../../shared/database/database.ts'
import { p, text } from '../document/build.ts'
import { anyCharacter } from '../support/any-character.ts'
import { make } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, type Visit, Visitor } from '../support/visitor.ts'

const service = await startTestService(t)

t.test('a person adds, changes and removes properties of every kind', async (t) => {
  const { browser, page, read } = await documented()
  for (const [name, kind, value, stored] of [
    ['owner', 'text', 'Ada\r\nLovelace', 'Ada\nLovelace'],
    ['weight', 'number', ' -6000.5 ', -6000.5],
    ['done', 'boolean', 'Yes', true],
    ['colours', 'list', 'grey\r\n\r\nbrown, or black\r\n', ['grey', 'brown, or black']],
    ['empty', 'text', '', ''],
    ['nothing', 'list', '', []],
  ] as const) {
    const added = await send(browser, page, {
      action: 'add',
      state: stateOf(undefined),
      name: ` ${name} `,
      kind,
      value,
    })
    t.match(added, { status: 303, location: page })
    t.strictSame((await read()).properties[name], stored)
  }
  const shown = await browser.get(page)
  t.match(shown.html, /<textarea[^>]*>\n?Ada\nLovelace<\/textarea>/)
  t.match(shown.html, '<option selected>yes</option>')
  const set = { action: 'set', name: 'weight', kind: 'number', state: stateOf(-6000.5), value: '1e3' }
  t.equal((await send(browser, page, set)).status, 303)
  t.equal((await read()).properties.weight, 1000)
  t.equal((await send(browser, page, { action: 'remove', name: 'owner', state: stateOf('Ada\nLovelace') })).status, 303)
  t.notOk('owner' in (await read()).properties)
})

t.test('tags are kept, taken away and added, in the spelling of the knowledge base', async (t) => {
  const { ada, browser, page, read } = await documented({ tags: ['Mammals', 'draft, old'] })
  await make(ada, [p(text('x'))], { tags: ['Wild'] })
  const { html } = await browser.get(page)
  t.match(html, '<option value="Wild"></option>')
  const state = stateOf(['Mammals', 'draft, old'])
  const saved = await send(browser, page, {
    action: 'tags',
    state,
    tag_1: 'draft, old',
    add: ' wild ,mammals,,DRAFT, OLD',
  })
  t.equal(saved.status, 303)
  t.strictSame((await read()).tags, ['draft, old', 'Wild', 'Mammals', 'DRAFT', 'OLD'])
  const [before] = (await ada.get(`/audit?action=updateDocument`)).body.data
  t.match(before, { action: 'updateDocument', token_id: '' })
})

t.test('what somebody else has changed meanwhile is told, and not overwritten', async (t) => {
  const { ada, id, browser, page, read } = await documented({ tags: ['one'], properties: { owner: 'Ada', size: 1 } })
  await ada.patch(`/documents/${id}`, { tags: ['one', 'two'], properties_patch: { owner: 'Bob', size: null } })
  const owner = { action: 'set', name: 'owner', kind: 'text', state: stateOf('Ada'), value: 'Cy' }
  const late = await send(browser, page, owner)
  t.match(late, { status: 409, html: 'Somebody has changed this in the meantime' })
  t.match(late.html, /<textarea[^>]*>\n?Cy<\/textarea>/, 'what was typed is still there')
  t.match(late.html, 'Stored now: <span class="stored" dir="auto">Bob</span>')
  const gone = await send(browser, page, { action: 'set', name: 'size', kind: 'number', state: stateOf(1), value: '2' })
  t.match(gone, { status: 409, html: /name="name"[^>]*value="size"/ })
  const tags = await send(browser, page, { action: 'tags', state: stateOf(['one']), tag_0: 'one', add: 'three' })
  t.match(tags, { status: 409, html: /name="add"[^>]*value="three"/ })
  t.match(tags.html, /name="tag_1" value="two" checked/)
  const twice = await send(browser, page, {
    action: 'add',
    name: 'owner',
    kind: 'text',
    state: stateOf(undefined),
    value: 'Di',
  })
  t.equal(twice.status, 409, 'a new property replaces none')
  t.match(await read(), { tags: ['one', 'two'], properties: { owner: 'Bob' } })
  const sessions = () =>
    service.database.anyFirst(sql.unsafe`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`)
  const before = await sessions()
  for (let time = 0; time < 5; time += 1) t.equal((await send(browser, page, owner)).status, 409)
  const after = new Set(await sessions())
  t.ok(
    before.every((pid) => after.has(pid)),
    'a conflict costs no connection to the database',
  )
  const again = await send(browser, page, { ...owner, ...hiddenFields(late.html, page), state: stateOf('Bob') })
  t.equal(again.status, 303, 'saving again replaces it')
  t.equal((await read()).properties.owner, 'Cy')
})

t.test('what does not fit is refused in words, with what was typed still in the form', async (t) => {
  const { browser, page, read } = await documented()
  const state = stateOf(undefined)
  for (const [fields, words] of [
    [{ name: '1st', kind: 'text', value: 'x' }, 'A name begins with a letter'],
    [{ name: '__proto__', kind: 'text', value: 'x' }, 'A name begins with a letter'],
    [{ name: 'n', kind: 'number', value: 'twelve' }, 'A number is written like 12'],
    [{ name: 'n', kind: 'number', value: `1${'0'.repeat(400)}` }, 'A number is written like 12'],
    [{ name: 'n', kind: 'number', value: '12345678901234567890' }, 'at most about 15 digits'],
    [{ name: 'n', kind: 'boolean', value: 'perhaps' }, 'The value is “yes” or “no”'],
    [{ name: 'n', kind: 'text', value: 'x'.repeat(1001) }, 'A text has at most 1000 characters'],
    [{ name: 'n', kind: 'list', value: 'x\n'.repeat(51) }, 'A list has at most 50 lines'],
    [{ name: 'n', kind: 'map', value: 'x' }, 'Choose what kind of value it is'],
  ] as const) {
    const refused = await send(browser, page, { action: 'add', state, ...fields })
    t.match(refused, { status: 400, html: words })
    t.ok(refused.html.includes(`${fields.value}</textarea>`), words)
  }
  const silent = await send(browser, page, { state, name: 'n', kind: 'text', value: 'x' })
  t.match(silent, { status: 400, html: 'The form did not say what to do' })
  const tags = await send(browser, page, { action: 'tags', state: stateOf([]), add: 'x'.repeat(65) })
  t.match(tags, { status: 400, html: 'a tag has at most 64 characters' })
  const many = Array.from({ length: 51 }, (_, index) => `tag ${index}`).join(',')
  t.equal((await send(browser, page, { action: 'tags', state: stateOf([]), add: many })).status, 400)
  t.match(await read(), { tags: [], properties: {} })
  const longest = Array.from({ length: 50 }, () => '𝒜'.repeat(1000)).join('\n')
  t.equal((await send(browser, page, { action: 'add', state, name: 'long', kind: 'list', value: longest })).status, 303)
})

t.test('two people who take different tags away have both taken away, once the second saves again', async (t) => {
  const { ada, id, browser, page, read } = await documented({ tags: ['old', 'draft', 'wild'] })
  await ada.patch(`/documents/${id}`, { tags: ['old', 'wild'] })
  const shown = { was_0: 'old', was_1: 'draft', was_2: 'wild' }
  const form = { action: 'tags', state: stateOf(['old', 'draft', 'wild']), ...shown, tag_1: 'draft', tag_2: 'wild' }
  const refused = await send(browser, page, form)
  t.match(refused, { status: 409, html: /name="tag_0" value="old">/ }, 'the cleared tick stays cleared')
  t.match(refused.html, /name="tag_1" value="wild" checked/)
  t.match(refused.html, /name="add"[^>]*value=""/, 'and what others took away is not added')
  await send(browser, page, { action: 'tags', state: stateOf(['old', 'wild']), was_0: 'old', tag_1: 'wild' })
  t.strictSame((await read()).tags, ['wild'])
})

t.test('a huge form of tags is refused before anything is computed, and viewers are refused first', async (t) => {
  const { page, browser, read } = await documented({ tags: ['one'] }, 'crowd')
  const viewer = await service.signUp({ workspace: 'crowd', role: 'viewer' })
  const reading = await signedInVisitor(service, { userId: viewer.user_id })
  const add = Array.from({ length: 120_000 }, (_, index) => index.toString(36)).join(',')
  const fields = { action: 'tags', state: stateOf(['one']), add }
  t.equal((await reading.send(page, fields)).status, 403)
  const refused = await send(browser, page, fields)
  t.match(refused, { status: 400, html: 'at most 50 tags' })
  t.ok(refused.html.length < 100_000, 'the page repeats only what its field can hold')
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`tag_${index}`, 'x']))
  t.equal((await send(browser, page, { ...fields, ...many, add: '' })).status, 400)
  t.strictSame((await read()).tags, ['one'])
})

t.test('viewers see tags and properties and change nothing, and other workspaces see nothing', async (t) => {
  const { page, read } = await documented({ tags: ['<b>'], properties: { owner: '<i>Ada' } }, 'group')
  const viewer = await service.signUp({ workspace: 'group', role: 'viewer' })
  const reading = await signedInVisitor(service, { userId: viewer.user_id })
  const { html } = await reading.get(page)
  t.match(html, '&lt;i&gt;Ada')
  t.notMatch(html, /name="action"|<i>|<b>/)
  const remove = { action: 'remove', name: 'owner', state: stateOf('<i>Ada') }
  t.equal((await send(reading, page, remove)).status, 403)
  const stranger = await documented()
  t.equal((await stranger.browser.get(page)).status, 404)
  t.equal((await send(stranger.browser, page, remove)).status, 404)
  t.match(await new Visitor(service.origin).get(page), { status: 303 })
  t.match(await read(), { properties: { owner: '<i>Ada' } })
})

t.test('a form shows and reads every value that it can hold without a change', async (t) => {
  const line = fc
    .string({ unit: anyCharacter, maxLength: 30 })
    .filter((value) => value.isWellFormed() && !value.includes('\0'))
  const value = fc.oneof(
    line,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(line, { maxLength: 5 }),
  )
  fc.assert(
    fc.property(value, (stored) => {
      if (!isWritable(stored)) return
      const field = writtenValue(stored).replaceAll('\n', '\r\n')
      const read = readValue(kindOf(stored), field)
      t.strictSame(JSON.stringify(read), JSON.stringify({ value: stored }))
    }),
  )
})

async function documented(members: object = {}, workspace?: string) {
  const ada = await service.signUp(workspace === undefined ? {} : { workspace })
  const { id } = await make(ada, [p(text('Water'))], members)
  const browser = await signedInVisitor(service, { userId: ada.user_id })
  const read = async () => (await ada.get(`/documents/${id}`)).body.data
  return { ada, id, browser, page: `/d/${id}/properties`, read }
}

// Sends a form of a page with the token of the session.
async function send(browser: Visitor, page: string, fields: Record<string, string>): Promise<Visit> {
  const { csrf_token = '' } = hiddenFields((await browser.get('/device')).html, '/logout')
  return browser.post(page, { csrf_token, ...fields })
}
