import { Extension } from '@tiptap/core'
import { DOMParser, type Node as DocumentNode, type ParseOptions, type Schema } from '@tiptap/pm/model'
import { Plugin, PluginKey } from '@tiptap/pm/state'
import { Decoration, DecorationSet } from '@tiptap/pm/view'

const key = new PluginKey<DecorationSet>('lineEnds')

/**
 * Keeps the line ends within a text, such as those of wrapped Markdown, and shows each as a blank, as HTML does.
 * ProseMirror would read them as hard breaks when it reads the text of a paragraph in which somebody has typed.
 */
export const LineEnds = Extension.create({
  name: 'lineEnds',
  addProseMirrorPlugins() {
    const { schema } = this.editor
    return [
      new Plugin<DecorationSet>({
        key,
        state: {
          init: (_config, { doc }) => DecorationSet.create(doc, lineEnds(doc, { from: 0, to: doc.content.size })),
          apply(transaction, before) {
            const range = transaction.changedRange()
            if (range === null) return before
            const after = before.map(transaction.mapping, transaction.doc)
            return after.remove(after.find(range.from, range.to)).add(transaction.doc, lineEnds(transaction.doc, range))
          },
        },
        props: { decorations: (state) => key.getState(state), domParser: new LineEndParser(schema) },
      }),
    ]
  },
})

class LineEndParser extends DOMParser {
  constructor(schema: Schema) {
    super(schema, DOMParser.fromSchema(schema).rules)
  }

  override parse(dom: Node, options?: ParseOptions): DocumentNode {
    return super.parse(dom, { ...options, preserveWhitespace: 'full' })
  }
}

// The line ends that touch a range, outside of code.
function lineEnds(doc: DocumentNode, { from, to }: { from: number; to: number }): Decoration[] {
  const found: Decoration[] = []
  doc.nodesBetween(Math.max(0, from - 1), Math.min(doc.content.size, to + 1), (node, position) => {
    for (const { index } of node.text?.matchAll(/\n/g) ?? []) {
      const start = position + index
      if (start + 1 >= from && start <= to) found.push(Decoration.inline(start, start + 1, { class: 'line-end' }))
    }
    return !node.type.spec.code
  })
  return found
}
