import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { type ErrorCode, type ErrorDetails, Refusal } from '../../errors.ts'
import type { DocNode } from '../document.ts'
import type { Normalised } from '../normalise.ts'
import { refuseNode } from '../normalise-state.ts'
import { assemble, type ImportOptions } from './from-markdown.ts'
import { type MarkdownInput, type Parsed, parseMarkdown } from './parse.ts'

/** What the thread answers: the parsed text, or the refusal it ended in. */
export type ParseAnswer = { parsed: Parsed } | { code: ErrorCode; details: ErrorDetails | undefined }

// Ordinary Markdown of this length parses in 4 ms; the worst found (setext headings, `*_`) takes below 200 ms.
const inlineLength = 2 * 1024
const memoryLimit = { maxOldGenerationSizeMb: 512, stackSizeMb: 4 }

const oneAtATime = pLimit(1)
let thread: Worker | undefined

/**
 * How many milliseconds of its processor the thread may spend on a text of so many characters. Ordinary Markdown takes
 * 0.6 to 2.8 s a megabyte, one of nothing but tiny blocks 70 µs a block; a hostile text, which needs few characters,
 * must not keep those who wait for long.
 */
export function timeLimit(length: number): number {
  return Math.min(10_000, 1000 + length * 0.02)
}

/**
 * `parseMarkdown` without holding the event loop: longer texts, and those that nest suspiciously, are parsed in a
 * thread with a bound on time and memory. Refuses as `parseMarkdown` does, and with 422 `invalid_node` a text that
 * breaks the bounds.
 */
export async function parseMarkdownAsync(input: MarkdownInput): Promise<Parsed> {
  const { markdown } = input
  if (markdown.length <= inlineLength && !isSuspicious(markdown)) return parseMarkdown(input)
  return await oneAtATime(() => parseInThread(input))
}

/** `fromMarkdown` for texts of callers; see `parseMarkdownAsync`. */
export async function fromMarkdownAsync(markdown: string, options: ImportOptions = {}): Promise<Normalised<DocNode>> {
  const { stored: _, ...context } = options
  return assemble(await parseMarkdownAsync({ markdown, ...context }), options)
}

async function parseInThread(input: MarkdownInput): Promise<Parsed> {
  thread ??= await startThread()
  const worker = thread
  const ended = new AbortController()
  // Only while it works does the thread keep the process alive.
  worker.ref()
  try {
    const answered = once(worker, 'message', { signal: ended.signal })
    void abortLate(worker, { limit: timeLimit(input.markdown.length), ended })
    worker.postMessage(input)
    const [answer] = (await answered) as [ParseAnswer]
    if ('parsed' in answer) return answer.parsed
    throw new Refusal(answer.code, { status: 422, ...(answer.details && { details: answer.details }) })
  } catch (error) {
    if (error instanceof Refusal) throw error
    forget(worker)
    await worker.terminate()
    if (!isBound(error)) throw error
    throw refuseNode({ path: input.path ?? '', blockId: null }, 'the Markdown takes too much time or memory to read')
  } finally {
    ended.abort()
    worker.unref()
  }
}

// The time of the processor counts, not that of the clock: a busy machine must not refuse what it reads otherwise.
async function abortLate(worker: Worker, { limit, ended }: { limit: number; ended: AbortController }): Promise<void> {
  try {
    const before = await worker.cpuUsage()
    for (let left = limit; left > 0; ) {
      await sleep(Math.max(left, 20), undefined, { signal: ended.signal, ref: false })
      const { user, system } = await worker.cpuUsage(before)
      left = limit - (user + system) / 1000
    }
  } catch {
    // The text has been answered, or the thread has ended, which its caller hears of by itself.
    return
  }
  ended.abort()
}

async function startThread(): Promise<Worker> {
  const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), { resourceLimits: memoryLimit })
  // A thread that ends on its own, whatever the reason, is replaced by the next text.
  worker.on('error', () => forget(worker))
  worker.on('exit', () => forget(worker))
  await once(worker, 'message')
  return worker
}

function forget(worker: Worker): void {
  if (thread === worker) thread = undefined
}

function isBound(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string }
  return name === 'AbortError' || code === 'ERR_WORKER_OUT_OF_MEMORY'
}

// A few kilobytes of markers that nest or could pair are enough to keep the parser busy for seconds.
function isSuspicious(markdown: string): boolean {
  return /(?:[>*_[\]!~`<$=-]\s?){64}/.test(markdown) || (markdown.match(/[[\]*_`<$=]/g)?.length ?? 0) > 1024
}
