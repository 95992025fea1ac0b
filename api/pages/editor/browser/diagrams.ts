import { Extension } from '@tiptap/core'
import { Plugin, PluginKey } from '@tiptap/pm/state'
import { Decoration, DecorationSet } from '@tiptap/pm/view'
import { type CodeBlock, changedBlocks, codeBlocks, languageOf } from './code-blocks.ts'
import { DiagramFigure } from './diagram-figure.ts'

// The pause between two diagrams that are not near the screen, in milliseconds.
const pauseMs = 100

const key = new PluginKey<DecorationSet>('diagrams')

/** Shows the diagram of each block of code in the language of Mermaid, below the code. */
export const Diagrams = Extension.create({
  name: 'diagrams',
  addProseMirrorPlugins: () => [diagrams()],
})

function diagrams(): Plugin<DecorationSet> {
  // A diagram keeps its figure when its block moves, and while others change the document.
  const figures = new Map<string, DiagramFigure>()
  // A printed page has all diagrams. So after the diagrams near the screen the others are drawn, one after the other.
  const drawNext = () => {
    setTimeout(() => [...figures.values()].find(({ isWaiting }) => isWaiting)?.drawNow(), pauseMs)
  }

  const widgetsOf = ({ node, position }: CodeBlock): Decoration[] => {
    const id: unknown = node.attrs['id']
    // A block gets its id right after it was made.
    if (languageOf(node) !== 'mermaid' || typeof id !== 'string') return []
    const figure = figures.get(id) ?? new DiagramFigure(drawNext)
    figures.set(id, figure)
    figure.show(node.textContent)
    const isOfFigure = { id, side: -1, key: `diagram ${id}`, ignoreSelection: true, stopEvent: () => true }
    return [Decoration.widget(position + node.nodeSize, () => figure.element, isOfFigure)]
  }

  return new Plugin({
    key,
    view: () => ({
      update({ state }, before) {
        if (state.doc === before.doc) return
        const shown = new Set(
          key
            .getState(state)
            ?.find()
            .map(({ spec }) => spec['id']),
        )
        for (const [id, figure] of figures) {
          if (shown.has(id)) continue
          figure.end()
          figures.delete(id)
        }
      },
    }),
    state: {
      init: (_config, { doc }) =>
        DecorationSet.create(doc, codeBlocks(doc, { from: 0, to: doc.content.size }).flatMap(widgetsOf)),
      apply(transaction, before) {
        if (!transaction.docChanged) return before
        let after = before.map(transaction.mapping, transaction.doc)
        for (const block of changedBlocks(transaction)) {
          // The widget of the block before stands at the start of this block.
          const own = after.find(block.position + 1, block.position + block.node.nodeSize)
          after = after.remove(own).add(transaction.doc, widgetsOf(block))
        }
        return after
      },
    },
    props: { decorations: (state) => key.getState(state) },
  })
}
