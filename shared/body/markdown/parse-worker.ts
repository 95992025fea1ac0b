import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { parseMarkdown } from './parse.ts'
import type { ParseAnswer } from './parse-async.ts'

// The thread of parse-async.ts: says that it is ready, then one text in, one answer out.
parentPort?.on('message', (markdown: string) => parentPort?.postMessage(answer(markdown)))
parentPort?.postMessage('ready')

function answer(markdown: string): ParseAnswer {
  try {
    return { parsed: parseMarkdown(markdown) }
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, details: error.details }
    throw error
  }
}
