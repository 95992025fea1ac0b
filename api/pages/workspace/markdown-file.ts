import { computation } from '../../../shared/computations/computation.ts'
import { readFrontMatter, titleInFrontMatter } from '../../../shared/documents/front-matter.ts'
import type { Properties } from '../../../shared/documents/metadata.ts'
import { longestTitle } from '../../../shared/documents/schema.ts'
import { untitled } from './names.ts'

/** A Markdown file as a person has it: its name, and its text. */
export type MarkdownFile = { name: string; text: string }

/** What a document begins with that is made from a Markdown file. */
export type FileContents = { title: string; tags: string[]; properties: Properties; markdown: string }

/**
 * Reads a Markdown file by the rules of imports. The title comes from the front matter, else from the name of the file.
 * What fits in the front matter becomes tags and properties, and the rest of it stays. A thread imports this function by
 * its name. @public
 */
export function readMarkdownFile({ name, text }: MarkdownFile): FileContents {
  const split = splitFrontMatter(text)
  const read = split === null ? null : readFrontMatter(split.yaml)
  const named = (split && titleInFrontMatter(split.yaml)) ?? name.replace(/\.[^.]+$/, '').trim()
  const title = [...named].slice(0, longestTitle).join('').trim() || untitled
  if (split === null || read === null) return { title, tags: [], properties: {}, markdown: text }
  const { tags, properties, rest } = read
  const isPlain = tags.length === 0 && Object.keys(properties).length === 0
  if (isPlain) return { title, tags, properties, markdown: text }
  return { title, tags, properties, markdown: (rest === null ? '' : `---\n${rest}---\n`) + split.below }
}

/** Reads a Markdown file, in a thread when its front matter is long. */
export const readingMarkdownFile = computation({
  module: import.meta.url,
  run: readMarkdownFile,
  isSmall: ({ text }) => (splitFrontMatter(text)?.yaml.length ?? 0) < 2000,
  cpuMs: () => 5000,
})

// The front matter at the beginning of a text, between two lines of three hyphens, and the text below it; null for a
// text without front matter.
function splitFrontMatter(text: string): { yaml: string; below: string } | null {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0]
  if (opening === undefined) return null
  const closing = /^---[ \t]*$/m
  const rest = text.slice(opening.length)
  const found = closing.exec(rest)
  if (found === null) return null
  return { yaml: rest.slice(0, found.index), below: rest.slice(found.index + found[0].length).replace(/^\r?\n/, '') }
}
