import t from 'tap'
import { chapterNames, chapterPath } from '../../api/pages/guide/chapters.ts'
import { startTestService } from '../support/service.ts'
import { everyView, violationsOf } from './axe.ts'
import { noChromium, startChromium } from './chromium.ts'

t.test('every chapter of the guide is readable by everybody, in light and in dark', { skip: noChromium }, async (t) => {
  const { origin } = await startTestService(t)
  const browser = await startChromium(t)
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
  ] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'info' || complaints.push(message.text()))
    for (const [index, name] of chapterNames.entries()) {
      await page.goto(origin + chapterPath(name))
      const isTurn = everyView || (index % 2 === 0) === (colorScheme === 'light')
      if (width > 360 && isTurn) t.same(await violationsOf(page), [], `${name}, ${colorScheme}`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, `${name} fits ${width}`)
    }
    await page.goto(`${origin}/guide/writes#preconditions`)
    t.equal(await page.evaluate('document.querySelector(":target").localName'), 'h2', 'an anchor leads to its heading')
    await page.getByRole('link', { name: 'guards of blocks' }).click()
    t.equal(page.url(), `${origin}/guide/blocks#guards`)
    t.same(complaints, [], 'the policy has nothing to complain about')
    await context.close()
  }
})
