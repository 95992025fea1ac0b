import { chapterNames, chapterPath } from '../../../../api/pages/guide/chapters.ts'
import { everyView, lookAtEveryView, type View, violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { sharedService } from '../../../support/service.ts'
import { t } from '../../../support/tap.ts'

// On a phone only the room is looked at, for the colours are those of a wide screen.
const views: readonly View[] = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
]

t.test('every chapter of the guide is readable by everybody, in light and in dark', { skip: noChromium }, async (t) => {
  const { origin } = await sharedService()
  const browser = await startChromium(t)
  const page = await browser.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'info' || complaints.push(message.text()))
  for (const [index, name] of chapterNames.entries()) {
    await page.goto(origin + chapterPath(name))
    const look = async (view: string, [colorScheme, width]: View) => {
      const isTurn = everyView || (index % 2 === 0) === (colorScheme === 'light')
      if (width > 360 && isTurn) t.same(await violationsOf(page), [], `${name}, ${view}`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, `${name} fits ${view}`)
    }
    await lookAtEveryView(page, look, views)
  }
  const followLinks = async (view: string) => {
    await page.goto(`${origin}/guide/writes#preconditions`)
    t.equal(await page.evaluate('document.querySelector(":target").localName'), 'h2', `an anchor leads there, ${view}`)
    await page.getByRole('link', { name: 'guards of blocks' }).click()
    await page.waitForURL(`${origin}/guide/blocks#guards`)
  }
  await lookAtEveryView(page, followLinks, views)
  t.same(complaints, [], 'the policy has nothing to complain about')
})
