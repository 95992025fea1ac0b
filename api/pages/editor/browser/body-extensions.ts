import type { AnyExtension } from '@tiptap/core'
import { Blockquote } from '@tiptap/extension-blockquote'
import { CodeBlock } from '@tiptap/extension-code-block'
import { Document } from '@tiptap/extension-document'
import { HardBreak } from '@tiptap/extension-hard-break'
import { Heading } from '@tiptap/extension-heading'
import { HorizontalRule } from '@tiptap/extension-horizontal-rule'
import { BulletList, ListItem, ListKeymap, OrderedList, TaskItem, TaskList } from '@tiptap/extension-list'
import { Paragraph } from '@tiptap/extension-paragraph'
import { Text } from '@tiptap/extension-text'
import { bodyNode } from './body-schema.ts'
import { details } from './details.ts'
import { formulas } from './formulas.ts'
import { marks } from './marks.ts'
import { ownNodes } from './own-nodes.ts'
import type { PageData } from './page-data.ts'
import { pictures } from './pictures.ts'
import { tables } from './tables.ts'

// A container has the direction of its first letter. The stylesheet gives each text its own direction.
const directed = { HTMLAttributes: { dir: 'auto' } }

const alignment = {
  textAlign: {
    parseHTML: (element: HTMLElement) => alignments.find((word) => word === element.style.textAlign) ?? null,
    renderHTML: ({ textAlign }: { textAlign?: string | null }) =>
      alignments.includes(textAlign ?? '') ? { style: `text-align: ${textAlign}` } : {},
  },
}
const alignments = ['left', 'center', 'right', 'justify']

/**
 * Extensions for all nodes and marks of bodies, and for nothing else. `page` says where pictures and formulas come
 * from.
 */
export function bodyExtensions(page: PageData): AnyExtension[] {
  return [
    Document,
    Text,
    bodyNode(Paragraph, alignment),
    bodyNode(Heading, alignment),
    bodyNode(Blockquote).configure(directed),
    bodyNode(BulletList).configure(directed),
    bodyNode(OrderedList).configure(directed),
    bodyNode(ListItem),
    bodyNode(TaskList).configure(directed),
    bodyNode(TaskItem).configure({
      nested: true,
      HTMLAttributes: { 'data-type': 'taskItem' },
      a11y: { checkboxLabel: (node) => node.firstChild?.textContent || 'Task' },
    }),
    ListKeymap,
    bodyNode(CodeBlock).configure({ HTMLAttributes: { dir: 'ltr' } }),
    bodyNode(HorizontalRule),
    bodyNode(HardBreak),
    ...tables,
    ...details,
    ...ownNodes,
    ...formulas(page),
    ...pictures(page.documentId),
    ...marks(page.documentId),
  ]
}
