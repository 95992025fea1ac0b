import type { BodyNode } from '../../shared/body/document.ts'
import { newId } from '../../shared/schema/ids.ts'
import { h, node, p, text, ul } from '../document/build.ts'

/** The beginning of a document: its blocks, and the ids of the top-level blocks that nobody may edit. */
export type Beginning = { name: string; blocks: BodyNode[]; untouched: Set<string> }

/** Five documents of different sizes and structures. `largest` is the number of blocks of the largest document. */
export function beginnings(largest: number): Beginning[] {
  const sizes = { note: 4, list: 12, mixed: 40, chapters: Math.min(200, largest), book: largest }
  return [
    beginning(
      'note',
      repeated(sizes.note, (index) => p(`A short note, line ${index}.`)),
    ),
    beginning('list', [
      h(1, 'Tasks'),
      ...repeated(sizes.list, task),
      ul(...repeated(sizes.list, (at) => p(`Item ${at}`))),
    ]),
    beginning('mixed', repeated(sizes.mixed, mixed)),
    beginning('chapters', repeated(sizes.chapters, chapter)),
    beginning(
      'book',
      repeated(sizes.book, (index) => (index % 50 === 0 ? h(1, `Part ${index}`) : paragraph(index))),
    ),
  ]
}

/** The text by which a person recognises a block that nobody may edit. */
export const untouchedText = 'Nobody touches this block'

function beginning(name: string, contents: BodyNode[]): Beginning {
  const untouched = new Set<string>()
  const blocks = contents.flatMap((content, index) => {
    const block = identified(content)
    if (index % 7 !== 3) return [block]
    const id = newId('block')
    untouched.add(id)
    return [block, { ...p(`${untouchedText}, number ${index}.`), attrs: { id } }]
  })
  return { name, blocks, untouched }
}

function identified(content: BodyNode): BodyNode {
  return { ...content, attrs: { ...content.attrs, id: newId('block') } }
}

function task(index: number): BodyNode {
  return node('taskList', {}, node('taskItem', { checked: index % 3 === 0 }, p(`Task number ${index}`)))
}

function mixed(index: number): BodyNode {
  const kinds = [
    () => paragraph(index),
    () => h((index % 3) + 1, `Section ${index}`),
    () => node('codeBlock', { language: 'ts' }, `const answer = ${index}\nreturn answer`),
    () => node('blockquote', {}, p(`Quoted ${index}`), p('and more of it')),
    () => node('callout', { kind: 'tip' }, p(`A tip, ${index}`)),
    () => node('table', {}, row('tableHeader', index), row('tableCell', index)),
    () => p('before', node('hardBreak'), text('after', 'bold'), node('inlineMath', { latex: `x^${index}` })),
    () => ul(p(`First ${index}`), p(`Second ${index}`)),
    () => node('horizontalRule'),
    () => node('details', {}, node('detailsSummary', {}, 'More'), node('detailsContent', {}, p(`Hidden ${index}`))),
  ]
  return (kinds[index % kinds.length] ?? kinds[0])?.() ?? paragraph(index)
}

function row(cell: string, index: number): BodyNode {
  return node('tableRow', {}, node(cell, {}, p(`cell ${index}`)), node(cell, {}, p('other cell')))
}

function chapter(index: number): BodyNode {
  if (index % 8 === 0) return h(1, `Chapter ${index / 8 + 1}`)
  return index % 8 === 4 ? h(2, `Section ${index}`) : paragraph(index)
}

function paragraph(index: number): BodyNode {
  const words = ['river', 'stone', 'lamp', 'morning', 'letter', 'window', 'garden', 'road']
  const chosen = repeated(6 + (index % 9), (at) => words[(index * 7 + at * 3) % words.length] ?? '')
  return p(`${chosen.join(' ')} `, text('and the rest', 'italic'), ` of paragraph ${index}.`)
}

function repeated<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
