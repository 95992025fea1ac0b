import type { BrowserContextOptions, Page } from 'playwright-core'
import { showDifference } from '../../../../api/pages/history/difference-html.ts'
import { documentToLines } from '../../../../shared/body/canonical.ts'
import type { BlockNode, DocNode } from '../../../../shared/body/document.ts'
import { attacks, doorsFor } from '../../../document/attacks.ts'
import { doc, h, node, p, text, ul } from '../../../document/build.ts'
import { everyView, violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, openWatchedPage, startChromium } from '../../../pages/browser/chromium.ts'
import { make, put } from '../../../support/documents.ts'
import { sharedService } from '../../../support/service.ts'
import { t } from '../../../support/tap.ts'
import { signedInBrowser } from '../../../support/written-page.ts'

const service = await sharedService()
const desk = { viewport: { width: 1280, height: 900 } }
const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }

t.test(
  'a person looks at what changed and takes it back, by keyboard, on every screen',
  { skip: noChromium },
  async (t) => {
    const ada = await service.signUp({ email: 'ada@example.test' })
    const { id } = await changedGuide(ada)
    const browser = await startChromium(t)
    const settings: BrowserContextOptions[] = [
      { ...desk, colorScheme: 'light' },
      { ...phone, colorScheme: 'dark' },
      ...(everyView
        ? ([
            { ...desk, colorScheme: 'dark' },
            { ...phone, colorScheme: 'light' },
          ] as const)
        : []),
    ]
    for (const options of settings) {
      const name = `${options.colorScheme} ${options.viewport?.width}`
      const { context, incidents } = await signedInBrowser(browser, { service, userId: ada.user_id, options })
      const page = await context.newPage()
      for (const path of ['history', 'versions/1', 'versions/1/restore']) {
        await page.goto(`${service.origin}/d/${id}/${path}`)
        t.strictSame(await violationsOf(page), [], `axe-core, ${path}, ${name}`)
        t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, 'nothing sticks out')
        await shoot(page, `${path.replaceAll('/', '-')}-${name}`)
      }
      t.strictSame(incidents, [], 'the policy has nothing to complain about')
      await context.close()
    }
    const { context } = await signedInBrowser(browser, { service, userId: ada.user_id, options: desk })
    const page = await context.newPage()
    await page.goto(`${service.origin}/d/${id}/history`)
    await page.getByRole('link', { name: 'Restore version 1' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Restore version 1' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Version 1 is the current text again').waitFor()
    await page.getByRole('link', { name: 'Back to the document' }).click()
    await page.getByText('a hundred litres').waitFor()
    await context.close()
  },
)

t.test('no attack runs a script or makes a request in a difference', { skip: noChromium }, async (t) => {
  const { show } = await openWatchedPage(await startChromium(t))
  for (let first = 0; first < attacks.length; first += together) {
    const { content } = doc(...attacks.slice(first, first + together).flatMap(doorsFor))
    const changed = JSON.parse(JSON.stringify(content).replaceAll('alert(1)', 'alert(2)'))
    const nothing = doc(p('x')).content
    const pairs = [
      [content, changed],
      [content, nothing],
      [nothing, content],
    ] as const
    const html = pairs.map(([from, to]) => {
      const texts = { from: documentToLines(docOf(from)).join('\n'), to: documentToLines(docOf(to)).join('\n') }
      return showDifference({ ...texts, path: '/d/doc_1', roomForWords: 1_000_000 }).html
    })
    const { ran, requests } = await show(html.join('\n'))
    t.strictSame([ran, requests.filter((request) => !request.startsWith('image http://documents.test/x'))], [[], []])
  }
})

// Attacks are shown several to a page. One page for each attack would take half a minute.
const together = 20

function docOf(content: BlockNode[]): DocNode {
  return { type: 'doc', content }
}

async function changedGuide(ada: Parameters<typeof make>[0]) {
  const filler = Array.from({ length: 6 }, (_, number) => p(`Elephant ${number} is grey.`))
  const table = node(
    'table',
    {},
    node('tableRow', {}, node('tableHeader', {}, p('Name')), node('tableHeader', {}, p('Age'))),
    node('tableRow', {}, node('tableCell', {}, p('Jumbo')), node('tableCell', {}, p('12'))),
  )
  const made = await make(
    ada,
    [
      h(1, 'Water'),
      p('An elephant drinks ', text('a hundred litres', 'bold'), ' a day.'),
      ...filler,
      ul(p('Fill the pool'), p('Buy a hose'), p('Close the tap')),
      p('This will be removed.'),
      table,
      node('codeBlock', { language: 'ts' }, text('const litres = 100')),
      h(2, 'Food'),
      p('تأكل الفيلة العشب.'),
      p('This will move.'),
      node('taskList', {}, node('taskItem', { checked: false }, p('Weigh the calf'))),
      node('blockMath', { latex: 'a^2 + b^2' }),
      p('The last one.'),
    ],
    { title: 'Caring for elephants' },
  )
  const blocks = JSON.parse(
    JSON.stringify(made.blocks)
      .replace('a hundred litres', 'two hundred litres')
      .replace('Buy a hose', 'Buy a long hose')
      .replace('"12"', '"13"')
      .replace('litres = 100', 'litres = 200')
      .replace('العشب', 'الحشائش')
      .replace('"checked":false', '"checked":true')
      .replace('b^2', 'c^2'),
  ) as BlockNode[]
  const list = blocks[8] as BlockNode
  list.content = [...(list.content ?? []).slice(0, 2), node('listItem', {}, p('Call the keeper'))]
  const food = blocks[12] as BlockNode
  food.attrs.level = 3
  const moving = blocks.splice(14, 1)
  blocks.splice(9, 1)
  blocks.splice(2, 0, ...moving)
  blocks.push(p('Something new, with ', text('code', 'code'), '.') as BlockNode)
  await put(ada, made.id, blocks)
  return made
}

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name.replace(' ', '-')}.png`, fullPage: true })
}
