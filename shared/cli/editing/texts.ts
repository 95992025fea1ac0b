import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Option } from 'commander'
import type { components } from '../../client/client.ts'
import { Failure } from '../frame/failures.ts'
import type { Output } from '../terminal/output.ts'

type ContentInput = components['schemas']['ContentInput']
type Difference = components['schemas']['DocumentDifference']

/** The forms in which commands take a text. */
export type Format = ContentInput['format']

export function formatOption(): Option {
  return new Option('--format <format>', 'form of the text')
    .choices(['markdown', 'tiptap-json'] satisfies Format[])
    .default('markdown')
}

/** The text of a file, or of standard input for `-`. Throws a Failure if it is not in UTF-8. */
export async function textOf(file: string): Promise<string> {
  return decoded(file === '-' ? await buffer(process.stdin) : await readFile(file))
}

/** Decodes UTF-8. Throws a Failure for other bytes. */
export function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Failure('failed', 'not_utf8', {
      message: 'The text is not in UTF-8, so nothing was stored.',
      hint: 'Save it in UTF-8.',
    })
  }
}

/** A text as the API takes it. Throws a Failure for JSON that is broken. */
export function contentOf(text: string, format: Format): ContentInput {
  if (format === 'markdown') return { format, content: text }
  try {
    return { format, document: JSON.parse(text) }
  } catch (error) {
    throw new Failure('usage', 'invalid_json', { message: `The text is not JSON: ${(error as Error).message}.` })
  }
}

/** Prints the blocks that a write changes: what they were in red, and what they are in green. */
export function showDifference(out: Output, blocks: Difference['blocks'] = []): void {
  for (const { op, before, after } of blocks) {
    if (op !== 'moved') for (const line of linesOf(before as Node | null)) out.textLine(`- ${line}`, 'red')
    for (const line of linesOf(after as Node | null)) out.textLine(`${op === 'moved' ? '↕' : '+'} ${line}`, 'green')
  }
}

/** Tells what a document cannot keep of a text. */
export function tellWarnings(out: Output, warnings: readonly { message: string }[] = []): void {
  for (const { message } of warnings) out.note({ text: 'warning: ', style: 'yellow' }, message)
}

type Node = { text?: string; content?: readonly Node[] }

function linesOf(node: Node | null): string[] {
  const { content = [] } = node ?? {}
  if (content.some(({ text }) => text !== undefined)) {
    return content
      .map(({ text = '\n' }) => text)
      .join('')
      .split('\n')
  }
  return node === null ? [] : content.length === 0 ? [''] : content.flatMap(linesOf)
}
