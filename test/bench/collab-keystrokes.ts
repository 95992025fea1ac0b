import { setTimeout as sleep } from 'node:timers/promises'
import type { Site } from '../support/site.ts'
import {
  type BenchDocument,
  type Browsers,
  type CollabPart,
  createParagraphs,
  type EditorServer,
  patchParagraph,
  startBrowsers,
  startEditorServer,
} from './collab-sides.ts'
import { type Figure, ms, percentile } from './harness.ts'

const rounds = 10
const wordsOfRound = 20
const pauseMs = 50
const commits = 60

/** The two browsers of a document. The second browser is connected to the same process or to another one. */
type Side = { document: BenchDocument; typing: number; watching: number; times: number[] }

/**
 * Measures the time from a keystroke in one browser to its arrival in another one, and from the answer of a write of
 * the API to its arrival in a browser while somebody types. A keystroke is one inserted word, so that it can be found.
 */
export async function measureKeystrokes(site: Site, { t, sizes }: CollabPart): Promise<Figure[]> {
  const bare = await startEditorServer(t, { site, kind: 'bare' })
  const first = await startEditorServer(t, { site, kind: 'collab' })
  const second = await startEditorServer(t, { site, kind: 'collab' })
  const browsers = startBrowsers(t)
  const figures: Figure[] = []
  for (const size of sizes) {
    const open = (from: EditorServer, to: EditorServer) => openSide(site, { browsers, size, from, to })
    const sides = { bare: await open(bare, bare), one: await open(first, first), two: await open(first, second) }
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of round % 2 === 0 ? Object.values(sides) : Object.values(sides).toReversed()) {
        const times = await typeWords(browsers, side, wordsOfRound)
        // The first round warms the processes up.
        if (round > 0) side.times.push(...times)
      }
    }
    figures.push(...told(size, sides))
    for (const [name, side] of [
      ['one process', sides.one],
      ['two processes', sides.two],
    ] as const) {
      figures.push(await measureCommits(site, { browsers, side, name: `${size} blocks, ${name}` }))
    }
    const clients = Object.values(sides).flatMap(({ typing, watching }) => [typing, watching])
    await browsers('close', { clients })
  }
  return figures
}

async function openSide(
  site: Site,
  { browsers, size, from, to }: { browsers: Browsers; size: number; from: EditorServer; to: EditorServer },
): Promise<Side> {
  const document = await createParagraphs(site, size)
  const token = site.client.bearer ?? ''
  const addresses = [from, to].map(({ url }) => ({ url, name: document.id, token }))
  const typing = await browsers('open', { addresses, together: 1 })
  return { document, typing, watching: typing + 1, times: [] }
}

function typeWords(browsers: Browsers, { document, typing, watching }: Side, words: number): Promise<number[]> {
  const places = [0.1, 0.5, 0.9].map((share) => Math.floor(share * document.blocks.length))
  return browsers('type', { client: typing, watcher: watching, blocks: places, words, pause: pauseMs })
}

async function measureCommits(
  site: Site,
  { browsers, side, name }: { browsers: Browsers; side: Side; name: string },
): Promise<Figure> {
  const { id, blocks } = side.document
  const words = typeWords(browsers, side, commits)
  const times: number[] = []
  for (let turn = 0; turn < commits; turn += 1) {
    const text = `written by a program w${turn}w`
    const seen = browsers('watch', { client: side.watching, text: `w${turn}w` })
    const block = blocks[(7 * turn) % Math.floor(blocks.length * 0.1)] ?? ''
    const answered = await patchParagraph(site, { id, block, text })
    times.push(Math.max(0, (await seen) - answered))
    await sleep(pauseMs)
  }
  await words
  return {
    name: `write of the API answered to the browser, ${name}, p50 / p95`,
    value: both(times),
    ...below(times, 250),
  }
}

function told(size: number, { bare, one, two }: { bare: Side; one: Side; two: Side }): Figure[] {
  const name = (where: string) => `keystroke to the other browser, ${size} blocks, ${where}, p50 / p95`
  const ratios = [50, 95].map((percent) => percentile(one.times, percent) / percentile(bare.times, percent))
  return [
    { name: name('one process'), value: both(one.times), ...below(one.times, 100) },
    { name: name('bare Hocuspocus'), value: both(bare.times) },
    {
      name: `keystroke to the other browser, ${size} blocks, to bare Hocuspocus, p50 / p95`,
      value: ratios.map((ratio) => ratio.toFixed(2)).join(' / '),
      bar: 'at most 1.3',
      met: ratios.every((ratio) => ratio <= 1.3),
    },
    { name: name('two processes'), value: both(two.times), ...below(two.times, 100) },
  ]
}

function both(times: readonly number[]): string {
  return `${ms(percentile(times, 50))} / ${ms(percentile(times, 95))}`
}

function below(times: readonly number[], most: number): Pick<Figure, 'bar' | 'met'> {
  return { bar: `p95 < ${most} ms`, met: times.every((time) => !Number.isNaN(time)) && percentile(times, 95) < most }
}
