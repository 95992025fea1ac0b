import { Extension } from '@tiptap/core'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { Plugin, PluginKey } from '@tiptap/pm/state'
import { Decoration, DecorationSet, type EditorView } from '@tiptap/pm/view'
import { type CodeBlock, changedBlocks, codeBlocks, languageOf } from './code-blocks.ts'
import type { ColouredSpan, spansOf } from './highlighter.ts'

// The expressions of grammars backtrack, so long code is not coloured. Shared pages have the same limits.
const most = { characters: 5000, column: 500, all: 40_000 }

// The characters of code whose colours are kept: all that is shown, and some of what was shown before.
const mostKept = 4 * most.all

const key = new PluginKey<DecorationSet>('codeColours')

/** Colours the code of blocks that name their language. The highlighter is loaded by the first of these blocks. */
export const CodeColours = Extension.create({
  name: 'codeColours',
  addProseMirrorPlugins: () => [colours()],
})

function colours(): Plugin<DecorationSet> {
  let colour: typeof spansOf | null = null
  let isLoading = false
  // Each change by others makes all blocks of code anew. Their colours are found here by language and text.
  const kept = new Map<string, ColouredSpan[]>()
  let keptCharacters = 0

  const load = async (view: EditorView) => {
    if (isLoading || !hasLanguage(view.state.doc)) return
    isLoading = true
    colour = (await import('./highlighter.ts')).spansOf
    if (!view.isDestroyed) view.dispatch(view.state.tr.setMeta(key, 'loaded'))
  }

  const keptSpans = (code: string, language: string, spans: typeof spansOf): ColouredSpan[] => {
    const name = `${language}\n${code}`
    const found = kept.get(name)
    // The code that was used last stands last.
    if (found === undefined) keptCharacters += name.length
    else kept.delete(name)
    const now = found ?? spans(code, language)
    kept.set(name, now)
    for (const oldest of kept.keys()) {
      if (keptCharacters <= mostKept) break
      kept.delete(oldest)
      keptCharacters -= oldest.length
    }
    return now
  }

  const coloursOf = ({ node, position }: CodeBlock): Decoration[] => {
    const language = languageOf(node)
    if (colour === null || language === null) return []
    return keptSpans(node.textContent, language, colour).map(({ from, to, classes }) =>
      Decoration.inline(position + 1 + from, position + 1 + to, { class: classes }),
    )
  }

  return new Plugin({
    key,
    view(view) {
      void load(view)
      return { update: (_view, before) => before.doc !== view.state.doc && void load(view) }
    },
    state: {
      init: () => DecorationSet.empty,
      apply(transaction, before) {
        if (transaction.getMeta(key) !== undefined) {
          return DecorationSet.create(transaction.doc, shortBlocks(transaction.doc).flatMap(coloursOf))
        }
        if (!transaction.docChanged) return before
        let after = before.map(transaction.mapping, transaction.doc)
        const changed = changedBlocks(transaction)
        if (changed.length === 0) return after
        const coloured = new Set(shortBlocks(transaction.doc).map(({ position }) => position))
        for (const block of changed) {
          after = after.remove(after.find(block.position, block.position + block.node.nodeSize))
          if (coloured.has(block.position)) after = after.add(transaction.doc, coloursOf(block))
        }
        return after
      },
    },
    props: { decorations: (state) => key.getState(state) },
  })
}

// The blocks of code that are coloured: short blocks that name their language, as many as the limit for all allows.
function shortBlocks(doc: DocumentNode): CodeBlock[] {
  let left = most.all
  return codeBlocks(doc, { from: 0, to: doc.content.size }).filter(({ node }) => {
    if (languageOf(node) === null || node.content.size > most.characters || node.content.size > left) return false
    if (node.textContent.split('\n').some((line) => line.length > most.column)) return false
    left -= node.content.size
    return true
  })
}

function hasLanguage(doc: DocumentNode): boolean {
  return codeBlocks(doc, { from: 0, to: doc.content.size }).some(({ node }) => languageOf(node) !== null)
}
