import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markdownFiles } from '../support/markdown-files.ts'
import { root } from '../support/processes.ts'

/** Distinct paragraphs that people wrote, from Markdown files and documentation comments of installed packages. */
export function paragraphs(): string[] {
  const texts = [...markdownFiles(Number.POSITIVE_INFINITY).map(({ text }) => text), ...documentationComments()]
  return [...new Set(texts.flatMap((text) => text.split(/\n\s*\n/).map((block) => block.trim())))].filter(isParagraph)
}

/** Joins two paragraphs to a text that resembles real text and equals no other block. */
export function crossed(left: string, right: string): string {
  // Half a fenced block would swallow the text behind it.
  const [begun, ended] = [left, right].map((text) => text.replaceAll('```', '').split(' ')) as [string[], string[]]
  return [...begun.slice(0, Math.ceil(begun.length / 2)), ...ended.slice(Math.floor(ended.length / 2))].join(' ')
}

function documentationComments(): string[] {
  const files = globSync('node_modules/**/*.d.ts', { cwd: root }).sort()
  return files.flatMap((file) => {
    const comments = readFileSync(join(root, file), 'utf8').matchAll(/\/\*\*([\s\S]*?)\*\//g)
    return Array.from(comments, ([, comment = '']) => comment.replace(/^\s*\* ?/gm, '').replace(/\n(?=@)/g, '\n\n'))
  })
}

// An open fence would swallow the blocks behind it.
function isParagraph(block: string): boolean {
  const fences = block.match(/```/g)?.length ?? 0
  return /^[\p{L}*`[]/u.test(block) && block.length > 40 && block.length < 1500 && fences % 2 === 0
}
