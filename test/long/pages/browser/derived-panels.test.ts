import type { Page } from 'playwright-core'
import { workersOf } from '../../../../workers/types.ts'
import { h, p, text } from '../../../document/build.ts'
import { everyView, violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { make } from '../../../support/documents.ts'
import { startModelStub } from '../../../support/model-stub.ts'
import { until } from '../../../support/site.ts'
import { t } from '../../../support/tap.ts'
import { marked } from '../../../support/translation-stub.ts'
import { edit, ok, translate } from '../../../support/translations.ts'
import { startWorkers, untilFresh } from '../../../support/workers.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

const arabic = 'الفيلة تشرب الماء'
const endless = 'W'.repeat(150)

t.test('relations, concepts and translations of a document', { skip: noChromium }, async (t) => {
  const stub = await startModelStub(t)
  stub.answerWith(marked)
  const service = await startWrittenService(t, stub.env)
  const workers = workersOf(['relations', 'search', 'candidates', 'localization', 'events'])
  await startWorkers(t, service, workers)
  const ada = await service.signUp({ email: 'ada@example.test' })
  const browser = await startChromium(t)
  const { origin } = service
  const water = await make(ada, [h(1, arabic), p(`Water is drunk. ${endless}`)], { title: `${arabic} ${endless}` })
  const toWater = { type: 'link', attrs: { href: `svc://doc/${water.id}#block=${water.blocks[1]?.attrs.id}` } }
  const body = [
    h(1, 'Drinking'),
    p('They drink ', text(`much <water> ${endless}`, toWater), '.'),
    p('Elephants live long.'),
  ]
  const { source, target } = await translate(ada, body)
  ok(await ada.post('/concept-candidates/extract', { document_id: source.id }))
  await untilFresh(ada)

  t.test('by keyboard alone, a person relates a block, accepts a candidate and asks the model', async (t) => {
    const reader = await signedInBrowser(browser, {
      service,
      userId: ada.user_id,
      options: { javaScriptEnabled: false },
    })
    const page = await reader.context.newPage()
    await page.goto(`${origin}/d/${source.id}/relations`)
    await page.getByLabel('Where should it lead?').focus()
    await page.keyboard.type('water')
    await page.keyboard.press('Enter')
    await page.getByLabel('From this block').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Tab')
    await page.keyboard.type('supports')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Because of the <heat>')
    await page.keyboard.press('Enter')
    await page.getByText('The relation was added.').waitFor()
    t.match(await page.locator('.entry').last().textContent(), /supports .*Because of the <heat>.*They drink/s)
    await page.getByRole('link', { name: 'Concepts' }).press('Enter')
    await page.getByRole('button', { name: 'Accept Document' }).press('Enter')
    await page.getByText('The candidate is a concept now.').waitFor()
    await page.getByRole('link', { name: 'Translations' }).press('Enter')
    await page.getByRole('link', { name: 'Show French beside the source' }).press('Enter')
    await page.getByRole('button', { name: 'Ask the model for 3 texts' }).press('Enter')
    await page.getByText('The model was asked.').waitFor()
    await until(async () => {
      await page.reload()
      return (await page.getByRole('button', { name: 'Apply the texts of the model' }).count()) > 0
    })
    t.strictSame(reader.incidents, [])
    await reader.context.close()
  })

  t.test('every panel is accessible in light and dark, and fits a telephone', async (t) => {
    const views = [
      { colorScheme: 'light', width: 1280 },
      { colorScheme: 'dark', width: 1280 },
      { colorScheme: 'light', width: 360 },
      { colorScheme: 'dark', width: 360 },
    ] as const
    for (const [index, { colorScheme, width }] of views.entries()) {
      const options = { colorScheme, viewport: { width, height: 900 } }
      const reader = await signedInBrowser(browser, { service, userId: ada.user_id, options })
      const page = await reader.context.newPage()
      const paths = ['relations?find=water', 'concepts', 'translations?translation=fr']
      for (const [nth, path] of paths.entries()) {
        await page.goto(`${origin}/d/${source.id}/${path}`)
        const name = `${path}, ${colorScheme}, ${width} pixels`
        if (everyView || nth === index % 3) t.strictSame(await violationsOf(page), [], name)
        t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, `${name} fits`)
        await shoot(page, `${path.split('?')[0]}-${colorScheme}-${width}`)
      }
      await page.goto(`${origin}/d/${water.id}/relations`)
      await shoot(page, `backlinks-${colorScheme}-${width}`)
      t.strictSame(reader.incidents, [])
      await reader.context.close()
    }
  })

  t.test('beside the text, the answer of the model appears, and applying it writes into the open editor', async (t) => {
    await edit(ada, source.id, { block: source.blocks[2]?.attrs.id ?? '', text: 'Elephants live for long.' })
    const options = { viewport: { width: 1280, height: 900 } }
    const reader = await signedInBrowser(browser, { service, userId: ada.user_id, options })
    const one = await WrittenPage.open(reader, { origin, id: target })
    const { page } = one
    await page.getByRole('link', { name: 'Translations' }).click()
    const panel = page.getByRole('complementary', { name: 'About this document' }).locator('.panel')
    await panel.getByRole('button', { name: 'Ask the model for 3 texts' }).click()
    await panel.getByRole('button', { name: 'Apply the texts of the model' }).click()
    await panel.getByText('The texts of the model were written into the translation.').waitFor()
    await page.locator('.ProseMirror').getByText('fr Elephants live for long.').waitFor()
    t.strictSame(await violationsOf(page), [], 'axe-core, beside the text')
    await shoot(page, 'translations-beside', false)
    await page.getByRole('link', { name: 'Relations' }).click()
    await panel.getByRole('heading', { name: 'Relations' }).waitFor()
    t.strictSame(reader.incidents, [])
    await reader.context.close()
  })
})

async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage })
}
