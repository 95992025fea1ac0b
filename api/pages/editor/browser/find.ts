import type { Editor } from '@tiptap/core'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { showBlockAt } from './block-window.ts'

/** A place of the wanted text: positions of the document. */
export type Match = { from: number; to: number }

/** The most matches that are shown and replaced at once, and the most characters that are looked for. */
export const limits = { matches: 1000, characters: 200 }

/**
 * Finds a text in a document, in upper and lower case. A match lies within one block of text. The time is linear in the
 * size of the document. `isMore` says that there are more matches than the limit.
 */
export function findMatches(doc: DocumentNode, wanted: string): { matches: Match[]; isMore: boolean } {
  const words = wanted.slice(0, limits.characters)
  const matches: Match[] = []
  if (words === '') return { matches, isMore: false }
  const pattern = new RegExp(words.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'gi')
  doc.descendants((node, position) => {
    if (matches.length > limits.matches) return false
    if (!node.isTextblock) return true
    // Each node of the text that is no letter counts as one letter, which nobody looks for.
    const text = node.textBetween(0, node.content.size, null, '\ufffc')
    for (const { index } of text.matchAll(pattern)) {
      const from = position + 1 + index
      matches.push({ from, to: from + words.length })
      if (matches.length > limits.matches) break
    }
    return false
  })
  return { matches: matches.slice(0, limits.matches), isMore: matches.length > limits.matches }
}

/** Shows matches in the text without changing it; `current` is the number of the match that the user looks at. */
export function showMatches(editor: Editor, { matches, current }: { matches: Match[]; current: number }): void {
  // Older browsers do not know highlights, and only scroll to the match.
  if (typeof Highlight === 'undefined') return
  const ranges = matches.map((match) => rangeOf(editor, match))
  CSS.highlights.set('found', new Highlight(...ranges))
  const chosen = ranges[current]
  if (chosen) CSS.highlights.set('found-now', new Highlight(chosen))
  else CSS.highlights.delete('found-now')
}

/** Shows no match any more. */
export function hideMatches(): void {
  if (typeof Highlight === 'undefined') return
  for (const name of ['found', 'found-now']) CSS.highlights.delete(name)
}

/** Scrolls to a match. */
export function scrollToMatch(editor: Editor, match: Match): void {
  showBlockAt(editor.view, match.from)
  const { node } = editor.view.domAtPos(match.from)
  const element = node instanceof Element ? node : node.parentElement
  element?.scrollIntoView({ block: 'center' })
}

/** Replaces matches, in one step that one undo takes back. The new text has the formatting of the text before. */
export function replaceMatches(editor: Editor, { matches, text }: { matches: Match[]; text: string }): void {
  if (!editor.isEditable) return
  const change = editor.state.tr
  for (const { from, to } of matches.toReversed()) {
    if (text === '') change.delete(from, to)
    else change.replaceWith(from, to, editor.schema.text(text, change.doc.resolve(from + 1).marks()))
  }
  if (change.docChanged) editor.view.dispatch(change)
}

function rangeOf({ view }: Editor, { from, to }: Match): Range {
  const range = new Range()
  const [start, end] = [view.domAtPos(from), view.domAtPos(to)]
  range.setStart(start.node, start.offset)
  range.setEnd(end.node, end.offset)
  return range
}
