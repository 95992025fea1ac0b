import type { Finding } from './measure.ts'
import { linesOf, type Measured } from './measurer.ts'

/**
 * An exception: readers that may grow faster than their input in some code or family, and the bound that stops them.
 */
type Bounded = { entries: readonly string[]; code?: readonly string[]; family?: string; bound: string }

const parser = [
  ...['mdast-util-from-markdown/lib/index.js', 'micromark/lib/initialize/document.js'],
  ...['micromark-core-commonmark/lib/attention.js', 'micromark-core-commonmark/lib/code-text.js'],
  ...['micromark-core-commonmark/lib/html-text.js', 'micromark-core-commonmark/lib/label-end.js'],
  ...['micromark-extension-gfm-footnote/lib/syntax.js', 'micromark-extension-gfm-strikethrough/lib/syntax.js'],
  ...['micromark-extension-gfm-autolink-literal/lib/syntax.js', 'micromark-extension-math/lib/math-text.js'],
  ...['micromark-util-edit-map/index.js', 'micromark-util-character/index.js', 'micromark-util-chunked/index.js'],
]

/** The code that could not be made linear, each with the bound that replaces linearity. */
const bounded: readonly Bounded[] = [
  {
    entries: ['Markdown', 'Markdown over a body of the same Markdown'],
    code: parser,
    bound: 'A thread parses the text, and is ended after at most ten seconds of its processor.',
  },
  {
    entries: ['imported Markdown', 'a folder of Markdown'],
    code: parser,
    bound: 'The importer parses files of the person who runs it, in a process of its own.',
  },
  {
    entries: ['answers of a model', 'a short text to translate and its translation'],
    code: parser,
    bound:
      'Texts of more than 2048 characters, or of many markers that could pair, are parsed in a thread with a limit.',
  },
  {
    entries: [
      'parsed Markdown',
      'Markdown over a body of the same Markdown',
      'a short text to translate and its translation',
    ],
    family: 'reference links to one definition',
    bound: 'An address is stored with each of its uses, until the body has the bytes that a document may have.',
  },
  {
    entries: ['a file name in a header'],
    family: 'combining marks of two classes',
    bound: 'To put the marks of the longest header in order takes less than 20 ms.',
  },
]

/** The lines of a measurement without the known exceptions. */
export function unboundedLines(measured: Measured): string[] {
  const { cell } = measured
  const family = 'family' in cell ? cell.family : undefined
  const findings = measured.findings.filter((finding) => !bounded.some((bound) => covers(bound, finding, family)))
  return linesOf({ ...measured, findings })
}

function covers(bound: Bounded, { entry, culprit }: Finding, family: string | undefined): boolean {
  if (!bound.entries.includes(entry)) return false
  if (bound.family !== undefined && bound.family !== family) return false
  return bound.code?.some((code) => culprit.includes(code)) ?? true
}
