import { globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { root } from './processes.ts'

/** A Markdown file that people wrote, with its package and, as the title, its path in the package. */
export type MarkdownFile = { package: string; title: string; text: string }

/** The first `count` non-empty Markdown files of the installed packages, in the order of their paths. */
export function markdownFiles(count: number): MarkdownFile[] {
  const files: MarkdownFile[] = []
  for (const path of globSync('node_modules/**/*.md', { cwd: root }).sort()) {
    if (files.length === count) break
    const text = readFileSync(join(root, path), 'utf8')
    if (text.trim() !== '') files.push({ ...placeOf(path), text })
  }
  return files
}

// node_modules/a/node_modules/@b/c/docs/d.md is the file docs/d.md of the package @b/c.
function placeOf(path: string): { package: string; title: string } {
  const parts = path
    .slice(path.lastIndexOf(`node_modules${sep}`))
    .split(sep)
    .slice(1)
  const nameLength = parts[0]?.startsWith('@') ? 2 : 1
  return { package: parts.slice(0, nameLength).join('/'), title: parts.slice(nameLength).join('/') }
}
