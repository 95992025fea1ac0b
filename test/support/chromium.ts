import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

// Debian's headless shell is Chromium without the window around a page, which takes a third of the processor time.
const candidates = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** What to do where no chromium is installed. */
export const chromiumMissing =
  'no chromium is installed: apt-get install -y chromium-headless-shell, or set CHROMIUM_PATH'

/** The path of the installed chromium, if there is any. */
export function findChromium(): string | undefined {
  return [process.env['CHROMIUM_PATH'], ...candidates].find((path) => path !== undefined && existsSync(path))
}

/** Starts the installed chromium, headless and without requests of its own. The caller closes it. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(chromiumMissing)
  return await chromium.launch({ executablePath, args: flags })
}

const flags = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]
