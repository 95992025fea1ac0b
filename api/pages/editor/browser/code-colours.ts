import { Extension } from '@tiptap/core'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { Plugin, PluginKey } from '@tiptap/pm/state'
import { Decoration, DecorationSet, type EditorView } from '@tiptap/pm/view'
import { type CodeBlock, changedBlocks, codeBlocks, languageOf } from './code-blocks.ts'
import type { spansOf } from './highlighter.ts'

// The expressions of grammars backtrack, so long code is not coloured. Shared pages have the same limits.
const most = { characters: 5000, column: 500, all: 40_000 }

const key = new PluginKey<DecorationSet>('codeColours')

/** Colours the code of blocks that name their language. The highlighter is loaded by the first of these blocks. */
export const CodeColours = Extension.create({
  name: 'codeColours',
  addProseMirrorPlugins: () => [colours()],
})

function colours(): Plugin<DecorationSet> {
  let colour: typeof spansOf | null = null
  let isLoading = false

  const load = async (view: EditorView) => {
    if (isLoading || !hasLanguage(view.state.doc)) return
    isLoading = true
    colour = (await import('./highlighter.ts')).spansOf
    if (!view.isDestroyed) view.dispatch(view.state.tr.setMeta(key, 'loaded'))
  }

  const coloursOf = ({ node, position }: CodeBlock): Decoration[] => {
    const language = languageOf(node)
    const code = node.textContent
    const isShort = code.length <= most.characters && !code.split('\n').some((line) => line.length > most.column)
    if (colour === null || language === null || !isShort) return []
    return colour(code, language).map(({ from, to, classes }) =>
      Decoration.inline(position + 1 + from, position + 1 + to, { class: classes }),
    )
  }

  const all = (doc: DocumentNode): DecorationSet => {
    let left = most.all
    const blocks = codeBlocks(doc, { from: 0, to: doc.content.size }).filter(({ node }) => {
      left -= node.content.size
      return left >= 0
    })
    return DecorationSet.create(doc, blocks.flatMap(coloursOf))
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
        if (transaction.getMeta(key) !== undefined) return all(transaction.doc)
        if (!transaction.docChanged) return before
        let after = before.map(transaction.mapping, transaction.doc)
        for (const block of changedBlocks(transaction)) {
          const end = block.position + block.node.nodeSize
          after = after.remove(after.find(block.position, end)).add(transaction.doc, coloursOf(block))
        }
        return after
      },
    },
    props: { decorations: (state) => key.getState(state) },
  })
}

function hasLanguage(doc: DocumentNode): boolean {
  return codeBlocks(doc, { from: 0, to: doc.content.size }).some(({ node }) => languageOf(node) !== null)
}
