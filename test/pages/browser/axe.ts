import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * Whether axe-core looks at each page at every width and in both colour schemes. Otherwise a test spreads these views
 * over its pages, because one look takes seconds.
 */
export const everyView = process.env['EVERY_VIEW'] === '1'

/** A colour scheme, and a width in pixels. */
export type View = readonly [colorScheme: 'light' | 'dark', width: number]

const opposites: readonly View[] = [
  ['light', 1280],
  ['dark', 360],
]
const others: readonly View[] = [
  ['dark', 1280],
  ['light', 360],
]

/** The colour schemes and widths in pixels in which a test looks at its pages. */
export const views: readonly View[] = everyView ? [...opposites, ...others] : opposites

/**
 * Shows an open page in each view and calls `look` with the name of the view and the view itself. That costs half of
 * what opening the page anew for each view costs. It fits pages whose scripts do not ask for the width while they load.
 */
export async function lookAtEveryView(
  page: Page,
  look: (name: string, view: View) => Promise<void>,
  shown: readonly View[] = views,
): Promise<void> {
  for (const view of shown) {
    const [colorScheme, width] = view
    await page.setViewportSize({ width, height: 800 })
    // The colours of links and buttons would otherwise still be on their way to those of the other scheme.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await look(`${colorScheme}, ${width} pixels`, view)
  }
}

/** The findings of axe-core about the page as it is shown, one line each. */
export async function violationsOf(page: Page): Promise<string[]> {
  // axe-core is evaluated, not loaded by a script element, because the policy of our pages forbids scripts.
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(source)
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => id + ': ' + help + ': ' + html)))`)
}
