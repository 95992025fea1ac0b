import type { Editor } from '@tiptap/core'
import fc from 'fast-check'
import type { BodyNode } from '../../shared/body/document.ts'
import { isTextblock } from '../../shared/body/nodes.ts'
import { node, p, ul } from '../document/build.ts'
import { blocksOf, normalised } from '../document/yjs/random-body.ts'
import { allText, Room } from '../document/yjs/room.ts'
import { headlessEditor, moveBlocks } from '../support/headless-editor.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

/*
 * Undo in the editor takes back what was done in this page, and never what others have written.
 */

type Session = { room: Room; anna: Editor; ben: Editor }

function open(...content: BodyNode[]): Session {
  const room = new Room(normalised({ type: 'doc', content }), 2)
  const [anna, ben] = room.editors.map(({ doc }) => headlessEditor(doc)) as [Editor, Editor]
  return { room, anna, ben }
}

/** The blocks with text, each as its type within the types around it, and its text. */
function outline(room: Room): string[] {
  const lines = (nodes: readonly BodyNode[], path: string): string[] =>
    nodes.flatMap((block) =>
      isTextblock(block.type) || !block.content
        ? `${path}${block.type}: ${allText(block)}`
        : lines(block.content, `${path}${block.type} `),
    )
  return lines(room.body.content, '')
}

/** Sets the caret behind a text. */
function caretBehind(editor: Editor, words: string): void {
  let place = -1
  editor.state.doc.descendants((block, position) => {
    const index = block.isTextblock ? block.textBetween(0, block.content.size, undefined, '\ufffc').indexOf(words) : -1
    if (place < 0 && index >= 0) place = position + 1 + index + words.length
  })
  if (place < 0) throw new Error(`no text ${words}`)
  editor.commands.setTextSelection(place)
}

function type(editor: Editor, behind: string, words: string): void {
  caretBehind(editor, behind)
  editor.view.dispatch(editor.state.tr.insertText(words))
}

/** What a program does by `content/edit`. */
function rewrite(room: Room, from: string, to: string): void {
  room.write((body) => {
    for (const { node } of blocksOf(body as BodyNode))
      for (const part of node.content ?? []) if (part.text) part.text = part.text.replace(from, to)
  })
}

const two = () => [p('one'), p('two')]
const quote = () => [node('blockquote', {}, p('one'), p('two'))]
const items = () => [ul(p('one'), p('two'))]

const changes: [name: string, body: () => BodyNode[], caret: string, change: (editor: Editor) => unknown][] = [
  ['a heading', two, 'two', (editor) => editor.commands.setHeading({ level: 2 })],
  ['a code block', two, 'two', (editor) => editor.commands.setCodeBlock()],
  ['a bullet list', two, 'two', (editor) => editor.commands.toggleBulletList()],
  ['a task list', two, 'two', (editor) => editor.commands.toggleTaskList()],
  ['a list of another kind', items, 'two', (editor) => editor.commands.toggleOrderedList()],
  ['tasks of points', items, 'two', (editor) => editor.commands.toggleTaskList()],
  ['no list', items, 'two', (editor) => editor.commands.toggleBulletList()],
  ['an indented item', items, 'two', (editor) => editor.commands.sinkListItem('listItem')],
  ['a quote', two, 'two', (editor) => editor.commands.toggleBlockquote()],
  ['no quote', quote, 'two', (editor) => editor.commands.toggleBlockquote()],
  ['a callout', two, 'two', (editor) => editor.commands.toggleWrap('callout', { kind: 'note' })],
  ['details', two, 'two', (editor) => editor.commands.setDetails()],
  ['joined blocks', two, '', (editor) => editor.chain().setTextSelection(6).joinBackward().run()],
  ['a split block', () => [p('one'), p('zero two')], 'zero ', (editor) => editor.commands.splitBlock()],
  ['a split item', () => [ul(p('one'), p('zero two'))], 'zero ', (editor) => editor.commands.splitListItem('listItem')],
  ['a block moved up', two, 'two', (editor) => moveBlocks(editor, 'up')],
  ['a neighbour moved down', two, 'one', (editor) => moveBlocks(editor, 'down')],
  ['a moved item', items, 'two', (editor) => moveBlocks(editor, 'up')],
  ['a line before it', two, 'one', (editor) => editor.commands.setHorizontalRule()],
  ['a table before it', two, 'one', (editor) => editor.commands.insertTable({ rows: 2, cols: 2 })],
  [
    'several of them',
    two,
    'two',
    (editor) => editor.chain().toggleBulletList().toggleBlockquote().run() && moveBlocks(editor, 'up'),
  ],
]

t.test('undo and redo of a change of blocks keep what others write into the blocks', async (t) => {
  const writers: [string, (session: Session) => void, { now: string; later: string }][] = [
    ['a person types', ({ ben }) => type(ben, 'two', ' REMOTE'), { now: 'two REMOTE', later: 'two REMOTE MORE' }],
    [
      'a program edits',
      ({ room }) => rewrite(room, 'two', 'TWO REMOTE'),
      { now: 'TWO REMOTE', later: 'TWO REMOTE MORE' },
    ],
  ]
  for (const [name, body, caret, change] of changes) {
    for (const [writer, write, { now, later }] of writers) {
      const session = open(...body())
      const { room, anna, ben } = session
      const before = outline(room)
      if (caret !== '') caretBehind(anna, caret)
      change(anna)
      room.settle()
      const changed = outline(room)
      t.notSame(changed, before, name)
      write(session)
      room.settle()
      const written = (lines: string[], words: string) => lines.map((line) => line.replace('two', words))
      t.same(outline(room), written(changed, now), `${name}: ${writer}`)
      while (anna.commands.undo()) room.settle()
      t.same(outline(room), written(before, now), `${name} taken back: ${writer}`)
      type(ben, ' REMOTE', ' MORE')
      room.settle()
      while (anna.commands.redo()) room.settle()
      t.same(outline(room), written(changed, later), `${name} done again: ${writer}`)
      while (anna.commands.undo()) room.settle()
      t.same(outline(room), written(before, later), `${name} taken back again: ${writer}`)
    }
  }
})

t.test('undo of what was inserted keeps what others have written into it', async (t) => {
  const inserted: [string, (editor: Editor) => unknown][] = [
    ['a table', (editor) => editor.commands.insertTable({ rows: 2, cols: 2 })],
    ['a block', (editor) => editor.chain().splitBlock().run()],
    ['a list', (editor) => editor.chain().splitBlock().toggleBulletList().run()],
  ]
  for (const [name, insert] of inserted) {
    const { room, anna, ben } = open(...two())
    caretBehind(anna, 'two')
    insert(anna)
    anna.view.dispatch(anna.state.tr.insertText('cell'))
    room.settle()
    type(ben, 'ce', ' REMOTE ')
    room.settle()
    while (anna.commands.undo()) room.settle()
    const words = outline(room)
      .map((line) => line.replace(/.*: /, ''))
      .join('|')
    t.match(words, /^one\|two ?\|? ?REMOTE ?$/, name)
    while (anna.commands.redo()) room.settle()
    t.match(outline(room).join('|'), 'ce REMOTE ll', `${name} done again`)
  }
})

type Step =
  | { kind: 'type' | 'program' | 'change' | 'undo' | 'redo'; who: number; at: number; what: number }
  | { kind: 'settle' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constantFrom('type', 'type', 'change', 'change', 'undo', 'undo', 'redo', 'program'),
      who: fc.nat(1),
      at: fc.nat(100),
      what: fc.nat(100),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'settle' as const }) },
)

/** Two editors and a program, who all write words that are found again. */
class Writers {
  readonly session = open(p('start zero'), ul(p('one'), p('two')), node('blockquote', {}, p('three')), p('four'))
  // Each word with its author and with the word behind which it was typed.
  readonly #words: { word: string; author: string; behind: string | null; isTakenBack: boolean }[] = []
  readonly #isPrompt: boolean

  constructor(isPrompt: boolean) {
    this.#isPrompt = isPrompt
  }

  run(step: Step): void {
    const { room } = this.session
    if (step.kind === 'settle') {
      room.settle()
      return
    }
    const [author, editor] = step.who === 0 ? (['A', this.session.anna] as const) : (['B', this.session.ben] as const)
    if (step.kind === 'type') this.#type(author, editor, step.at)
    if (step.kind === 'program') this.#edit(step.at)
    if (step.kind === 'change') this.#change(editor, step)
    if (step.kind === 'undo' || step.kind === 'redo') {
      editor.commands[step.kind]()
      for (const one of this.#words) one.isTakenBack ||= one.author === author
    }
    if (this.#isPrompt) room.settle()
  }

  // An author goes on with the last word, or begins behind any other.
  #type(author: string, editor: Editor, at: number): void {
    const word = `${author}${this.#words.length + 10}`
    const found = wordsIn(editor.state.doc.toJSON())
    const last = this.#words.findLast((one) => one.author === author)?.word ?? ''
    const behind = at < 60 && found.includes(last) ? last : (found[at % found.length] ?? '')
    this.#words.push({ word, author, behind, isTakenBack: false })
    type(editor, behind, ` ${word}`)
  }

  #edit(at: number): void {
    const found = wordsIn(this.session.room.body)
    const behind = found[at % found.length] ?? ''
    const word = `P${this.#words.length + 10}`
    this.#words.push({ word, author: 'P', behind, isTakenBack: false })
    rewrite(this.session.room, behind, `${behind} ${word}`)
    this.session.room.flush()
  }

  #change(editor: Editor, { at, what }: { at: number; what: number }): void {
    const found = wordsIn(editor.state.doc.toJSON())
    caretBehind(editor, found[at % found.length] ?? '')
    const kinds = changes.filter(([name]) => this.#isPrompt || !/joined|split|before it/.test(name))
    const [name, , , change] = kinds[what % kinds.length] as (typeof changes)[number]
    if (name === 'joined blocks') editor.commands.setTextSelection(editor.state.selection.$from.start())
    if (name === 'joined blocks') editor.commands.joinBackward()
    else change(editor)
  }

  /** The words that others have lost, and the words that do not follow the word behind which they were typed. */
  wrong(): string[] {
    this.session.room.settle()
    const blocks = blocksOf(this.session.room.body).filter(({ node: { type: name } }) => isTextblock(name))
    const texts = blocks.map((block) => allText(block.node))
    return this.#words.flatMap(({ word, author, behind, isTakenBack }) => {
      const text = texts.find((one) => one.includes(word))
      if (!text) return isTakenBack ? [] : [`${word} is lost`]
      if (this.#isPrompt && texts.join(' ').split(word).length !== 2) return [`${word} is there twice`]
      const isTorn =
        this.#isPrompt &&
        behind?.startsWith(author) &&
        text.includes(behind) &&
        text.indexOf(behind) > text.indexOf(word)
      return isTorn ? [`${word} stands before ${behind}`] : []
    })
  }
}

function wordsIn(block: BodyNode): string[] {
  const own = block.text?.match(/\w+/g) ?? []
  return [...own, ...(block.content ?? []).flatMap(wordsIn)]
}

for (const isPrompt of [true, false]) {
  const how = isPrompt ? 'one after the other' : 'at the same time'
  t.test(`undo never takes a word of another author, nor tears it from its sentence: ${how}`, async () => {
    const property = fc.property(fc.array(step, { minLength: 5, maxLength: 30 }), (steps) => {
      const writers = new Writers(isPrompt)
      for (const one of steps) writers.run(one)
      const wrong = writers.wrong()
      if (wrong.length > 0) throw new Error(`${wrong.join(', ')} in\n${outline(writers.session.room).join('\n')}`)
    })
    fc.assert(property, runsTimes(0.4))
  })
}
