import type { Node } from '@tiptap/core'
import { ownNode } from './body-schema.ts'

const callouts: { [kind: string]: string } = {
  note: 'Note',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
}

const fixed = { contenteditable: 'false' }
const inside = ['div', { 'data-content': '' }, 0] as const

/** The nodes of bodies for which Tiptap has no package, besides formulas and pictures. */
export const ownNodes: Node[] = [
  ownNode('callout', ({ attrs }) => {
    // Browsers ignore a `bdi` when they look for the direction of the callout.
    const word = callouts[attrs['kind']] ?? attrs['kind']
    return [
      'div',
      { 'data-callout': attrs['kind'], dir: 'auto' },
      ['p', { class: 'kind', ...fixed }, ['bdi', {}, word]],
      inside,
    ]
  }),
  ownNode('footnoteDefinition', ({ attrs }) => {
    const label = ['span', { class: 'label', ...fixed }, `${attrs['label']}`]
    return ['div', { class: 'footnote', dir: 'auto' }, label, inside]
  }),
  ownNode('footnoteReference', ({ attrs }) => ['sup', { class: 'noteref' }, `[${attrs['label']}]`]),
  ownNode('mention', ({ attrs }) => ['span', { class: 'mention' }, `@${attrs['label'] ?? attrs['id']}`]),
  ownNode('frontmatter', ({ attrs }) => ['pre', { class: 'source', 'data-source': 'Properties' }, attrs['yaml']]),
  ownNode('htmlBlock', ({ attrs }) => ['pre', { class: 'source', 'data-source': 'HTML' }, attrs['html']]),
  ownNode('htmlInline', ({ attrs }) => ['code', { class: 'tag' }, attrs['html']]),
]
