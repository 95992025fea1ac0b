import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { type MarkdownInput, parseMarkdown } from './parse.ts'
import type { ParseAnswer } from './parse-async.ts'

// The thread of parse-async.ts: says that it is ready, then one text in, one answer out.
parentPort?.on('message', (input: MarkdownInput) => parentPort?.postMessage(answer(input)))
parentPort?.postMessage('ready')

function answer(input: MarkdownInput): ParseAnswer {
  try {
    return { parsed: parseMarkdown(input) }
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, details: error.details }
    throw error
  }
}
