import type { Page } from 'playwright-core'
import { onlyLong } from '../../support/run-options.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { signedInBrowser } from '../../support/written-page.ts'
import { lookAtEveryView, violationsOf } from './axe.ts'
import { noChromium, startChromium } from './chromium.ts'

t.test('the workspace in a browser', { skip: noChromium }, async (t) => {
  const service = await sharedService()
  const { origin } = service
  const browser = await startChromium(t)

  await t.test('by keyboard alone, a person gets from an empty workspace to a document and back', async (t) => {
    const { user_id: userId } = await service.signUp()
    const { context, incidents } = await signedInBrowser(browser, { service, userId })
    const page = await context.newPage()
    await page.goto(origin)
    await pressOn(page, 'Write the first document')
    await page.waitForURL('**/d/doc_*')
    await page.goto(origin)
    await pressOn(page, 'Notes')
    await page.waitForURL('**/kb/*')
    await pressOn(page, 'New folder')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Rivers')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Rivers', level: 1 }).waitFor()
    await page.goBack()
    await pressOn(page, 'Organise Untitled')
    await page.waitForURL('**/organise')
    await page.getByLabel('Title of the document').focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('The Nile')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'The Nile', exact: true }).waitFor()
    await pressOn(page, 'Organise The Nile')
    await page.waitForURL('**/organise')
    await pressOn(page, 'Delete this document')
    await page.waitForURL('**/delete')
    await pressOn(page, 'Delete this document')
    await page.waitForURL('**deleted=**')
    await pressOn(page, 'Restore it')
    await page.waitForURL('**/d/doc_*')
    t.match(await page.title(), 'The Nile')
    t.strictSame(
      incidents.filter((incident) => !incident.startsWith('request ws:')),
      [],
    )
  })

  await t.test('an item that is dragged stays where it was put, and the arrows follow', async (t) => {
    const ada = await service.signUp()
    const { data: base } = (await ada.post('/knowledge-bases', { name: 'Handbook' })).body
    await ada.post('/folders', { name: 'Folder', knowledge_base_id: base.id })
    for (const title of ['A', 'B', 'C']) await ada.post('/documents', { title, knowledge_base_id: base.id })
    // While an item moves to its place, it does not give way to another item.
    const options = { reducedMotion: 'reduce' } as const
    const { context, incidents } = await signedInBrowser(browser, { service, userId: ada.user_id, options })
    const page = await context.newPage()
    await page.goto(`${origin}/kb/${base.id}?arrange=`)
    const names = () => page.locator('.listed .name').allTextContents()
    await drag(page, { item: 'C', onto: 'A', isPlaced: async () => (await names())[1] === 'C' })
    await page.getByText('“C” has a new place.').waitFor()
    t.strictSame(await names(), ['Folder', 'C', 'A', 'B'])
    await page.getByRole('button', { name: 'Move B up' }).click()
    await page.waitForURL('**moved=**')
    t.strictSame(await names(), ['Folder', 'C', 'B', 'A'], 'as the service has stored it')
    await drag(page, { item: 'A', onto: 'Folder', isPlaced: async () => true })
    t.equal((await names())[0], 'Folder', 'documents stay behind folders')
    t.strictSame(incidents, [])
  })

  await t.test('every page is accessible in light and dark, and fits a telephone', onlyLong, async (t) => {
    const ada = await service.signUp()
    const empty = await service.signUp()
    const { data: base } = (await ada.post('/knowledge-bases', { name: 'Handbook' })).body
    const { data: folder } = (await ada.post('/folders', { name: 'W'.repeat(200), knowledge_base_id: base.id })).body
    const tags = ['first week', 'قواعد', 'W'.repeat(64)]
    const input = { title: 'W'.repeat(500), knowledge_base_id: base.id, tags }
    const { data: document } = (await ada.post('/documents', input)).body
    const { data: gone } = (await ada.post('/documents', { title: 'دليل المستخدم', folder_id: folder.id })).body
    await ada.delete(`/documents/${gone.id}`)
    const [entry] = (await ada.get('/trash')).body.data
    const folderPath = `/kb/${base.id}/folders/${folder.id}`
    const paths = [
      ...['/', `/kb/${base.id}`, `/kb/${base.id}?arrange=`, `/kb/${base.id}?tag=first+week`, `${folderPath}`],
      ...[`${folderPath}?deleted=${gone.id}`, `${folderPath}/upload`, `/d/${document.id}/organise`],
      ...[`/d/${document.id}/move`, `/kb/${base.id}/delete`, '/trash', `/trash/${entry.id}/purge`],
      ...[`/kb/${base.id}/tags`, `/kb/${base.id}/tags/change?tag=first+week`, `/kb/${base.id}?select=`],
      ...['move', 'delete'].map((what) => `/kb/${base.id}/several?document=${document.id}&do=${what}`),
    ]
    const check = async (userId: string, paths: readonly string[]) => {
      const { context, incidents } = await signedInBrowser(browser, { service, userId })
      const page = await context.newPage()
      for (const path of paths) {
        await page.goto(origin + path)
        await lookAtEveryView(page, async (view) => {
          t.strictSame(await violationsOf(page), [], `${path}, ${view}`)
          const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
          t.equal(await page.evaluate(overflow), 0, `${path} fits ${view}`)
        })
      }
      t.strictSame(incidents, [])
      await context.close()
    }
    await check(ada.user_id, paths)
    await check(empty.user_id, ['/', '/trash'])
  })
})

// Presses Tab until the control with this name has the focus, then Enter.
async function pressOn(page: Page, name: string): Promise<void> {
  await page.waitForLoadState()
  const named = `(() => {
    const focused = document.activeElement
    return focused?.getAttribute('aria-label') ?? focused?.textContent.trim() ?? ''
  })()`
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate(named)) === name) return page.keyboard.press('Enter')
  }
  throw new Error(`no control is named ${name}`)
}

// Holds an item over another, and lets go of it where a person sees it. A browser tells a page all the time where a
// held item is; here it does so only with a movement.
async function drag(
  page: Page,
  { item, onto, isPlaced }: { item: string; onto: string; isPlaced: () => Promise<boolean> },
): Promise<void> {
  const boxOf = (name: string, part = '') => {
    const row = page.locator('.listed').filter({ has: page.getByRole('link', { name, exact: true }) })
    return (part === '' ? row : row.locator(part)).boundingBox()
  }
  do {
    const [grip, target] = [await boxOf(item, '.grip'), await boxOf(onto)]
    if (grip === null || target === null) throw new Error('the items are not shown')
    await page.mouse.move(grip.x + 5, grip.y + 5)
    await page.mouse.down()
    await page.mouse.move(grip.x + 5, target.y + 4, { steps: 40 })
    for (let movement = 0; movement === 0 || (movement < 20 && !(await isPlaced())); movement += 1) {
      await page.mouse.move(grip.x + 5, target.y + 2 + (movement % 3), { steps: 5 })
    }
    await page.mouse.up()
  } while (!(await isPlaced()))
}
