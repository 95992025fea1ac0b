import type { Browser } from 'playwright-core'
import tap, { type Test } from 'tap'
import { chromiumMissing, findChromium, launchChromium } from '../../support/chromium.ts'
import { keptForLane } from '../../support/leftovers.ts'

/** The reason why browser tests cannot run here, for tap's `skip`; false when they can run. */
export const noChromium: string | false = findChromium() === undefined && chromiumMissing

let started: Promise<Browser> | undefined

/**
 * The installed Chromium, headless and without requests of its own. It starts once for all tests of a file, because a
 * start takes longer than most tests. A test closes the pages that it has opened.
 */
export async function startChromium(t: Test): Promise<Browser> {
  started ??= keptForLane(launch)
  const browser = await started
  t.teardown(() => Promise.all(browser.contexts().map((context) => context.close())))
  return browser
}

async function launch(): Promise<Browser> {
  const browser = await launchChromium()
  tap.teardown(() => browser.close())
  return browser
}

/** Unwanted actions of a page: dialogs, scripts of the page that ran, requests that it made. */
export type Incidents = { ran: string[]; requests: string[] }

/**
 * A page at its own address that shows the fragments given to `show`. All its other requests are recorded and refused.
 */
export async function openWatchedPage(browser: Browser) {
  const page = await browser.newPage()
  const incidents: Incidents = { ran: [], requests: [] }
  const noteRun = (what: string): void => void incidents.ran.push(what)
  await page.exposeFunction('noteRun', noteRun)
  await page.addInitScript('for (const name of ["alert", "confirm", "prompt", "print"]) window[name] = noteRun')
  page.on('dialog', (dialog) => {
    noteRun(dialog.message())
    void dialog.dismiss()
  })
  page.on('popup', (popup) => noteRun(popup.url()))
  let html = ''
  await page.route('**', async (route) => {
    const request = route.request()
    if (request.url() === origin && request.isNavigationRequest()) {
      return await route.fulfill({ contentType: 'text/html; charset=utf-8', body: html })
    }
    incidents.requests.push(`${request.resourceType()} ${request.url()}`)
    await route.abort()
  })

  /**
   * Shows a fragment as the body of a page, parses the resulting HTML once more, and triggers events on all elements.
   */
  async function show(fragment: string): Promise<Incidents> {
    incidents.ran = []
    incidents.requests = []
    html = `<!doctype html><title>x</title><body>${fragment}</body>`
    await page.goto(origin)
    await page.evaluate(poke)
    await page.evaluate('document.body.innerHTML = String(document.body.innerHTML)')
    await page.evaluate(poke)
    return incidents
  }

  return { page, show }
}

const origin = 'http://documents.test/'

// The script is a text, because these tests are compiled without the types of a browser. Only links of a forbidden
// scheme are followed. A link whose address is not a URL has no scheme.
const poke = `(async () => {
  const types = ['click', 'focus', 'mouseover', 'mouseenter', 'pointerover', 'toggle', 'error', 'load', 'animationstart']
  for (const element of document.querySelectorAll('body, body *')) {
    for (const type of types) element.dispatchEvent(new Event(type))
    if (!/^(https?|mailto|tel|svc)?:$/.test(element.closest('a')?.protocol)) element.click()
  }
  await new Promise((resolve) => setTimeout(resolve))
})()`
