import type { Editor } from '@tiptap/core'
import {
  ArrowDown,
  ArrowUp,
  ChevronRight,
  Code,
  Heading1,
  Heading2,
  Heading3,
  Heading4,
  Heading5,
  Heading6,
  Highlighter,
  Image,
  Info,
  Italic,
  LetterB,
  Lightbulb,
  Link,
  List,
  ListOrdered,
  ListTodo,
  Megaphone,
  Minus,
  OctagonAlert,
  Pilcrow,
  Quote,
  Radical,
  Redo2,
  Sigma,
  SquareCode,
  Strikethrough,
  Subscript,
  Superscript,
  Table,
  TriangleAlert,
  Underline,
  Undo2,
} from 'lucide'
import { ask } from './ask.ts'
import type { Sign } from './icons.ts'
import { insertAt, leaveSelection } from './insertion.ts'
import { editLink } from './links.ts'
import { moveBlocks } from './moves.ts'
import { chooseLanguage } from './source-editing.ts'
import { chooseFiles } from './uploads.ts'

/** Something that a user can do with the text, in the toolbar or in the menu that a slash opens. */
export type Command = {
  name: string
  /** The sign on its button. */
  sign: Sign
  /** Further words by which the menu finds it. */
  words?: string
  /** Its keys, in the words of `aria-keyshortcuts`. */
  keys?: string
  run: (editor: Editor) => unknown
  /** Whether the selection has what the command gives. */
  isActive?: (editor: Editor) => boolean
  /** Whether the command is possible here; by default it is. */
  isPossible?: (editor: Editor) => boolean
}

/** The commands that format a text. */
export const textCommands: Command[] = [
  mark('bold', { name: 'Bold', sign: LetterB, keys: 'Control+B' }),
  mark('italic', { name: 'Italic', sign: Italic, keys: 'Control+I' }),
  mark('underline', { name: 'Underline', sign: Underline, keys: 'Control+U' }),
  mark('strike', { name: 'Strike through', sign: Strikethrough, keys: 'Control+Shift+S' }),
  mark('code', { name: 'Code', sign: Code, keys: 'Control+E' }),
  mark('highlight', { name: 'Highlight', sign: Highlighter, keys: 'Control+Shift+H' }),
  mark('superscript', { name: 'Superscript', sign: Superscript }),
  mark('subscript', { name: 'Subscript', sign: Subscript }),
  { name: 'Link', sign: Link, keys: 'Control+K', run: editLink, isActive: (editor) => editor.isActive('link') },
]

/** The commands that take back and repeat what this editor has done. */
export const historyCommands: Command[] = [
  {
    name: 'Undo',
    sign: Undo2,
    keys: 'Control+Z',
    run: (editor) => editor.chain().focus().undo().run(),
    isPossible: (editor) => editor.can().undo(),
  },
  {
    name: 'Redo',
    sign: Redo2,
    keys: 'Control+Y',
    run: (editor) => editor.chain().focus().redo().run(),
    isPossible: (editor) => editor.can().redo(),
  },
]

const headingIcons = { 1: Heading1, 2: Heading2, 3: Heading3, 4: Heading4, 5: Heading5, 6: Heading6 }

/** The kinds of a block of text, of which a block has one. */
export const kindCommands: Command[] = [
  {
    name: 'Text',
    sign: Pilcrow,
    words: 'paragraph plain',
    run: (editor) => editor.chain().focus().setParagraph().run(),
    isActive: (editor) => editor.isActive('paragraph'),
  },
  ...([1, 2, 3, 4, 5, 6] as const).map((level) => ({
    name: `Heading ${level}`,
    sign: headingIcons[level],
    words: 'title section',
    keys: `Control+Alt+${level}`,
    run: (editor: Editor) => editor.chain().focus().setHeading({ level }).run(),
    isActive: (editor: Editor) => editor.isActive('heading', { level }),
  })),
  {
    name: 'Code block',
    sign: SquareCode,
    words: 'program source',
    keys: 'Control+Alt+C',
    run: (editor) => editor.chain().focus().setCodeBlock().run(),
    isActive: (editor) => editor.isActive('codeBlock'),
  },
]

/** The kinds of lists. */
export const listCommands: Command[] = [
  {
    name: 'Bullet list',
    sign: List,
    words: 'unordered points',
    keys: 'Control+Shift+8',
    run: (editor) => editor.chain().focus().toggleBulletList().run(),
    isActive: (editor) => editor.isActive('bulletList'),
  },
  {
    name: 'Numbered list',
    sign: ListOrdered,
    words: 'ordered numbers',
    keys: 'Control+Shift+7',
    run: (editor) => editor.chain().focus().toggleOrderedList().run(),
    isActive: (editor) => editor.isActive('orderedList'),
  },
  {
    name: 'Task list',
    sign: ListTodo,
    words: 'todo checkbox',
    keys: 'Control+Shift+9',
    run: (editor) => editor.chain().focus().toggleTaskList().run(),
    isActive: (editor) => editor.isActive('taskList'),
  },
]

const callouts: [name: string, sign: Sign][] = [
  ['Note', Info],
  ['Tip', Lightbulb],
  ['Important', Megaphone],
  ['Warning', TriangleAlert],
  ['Caution', OctagonAlert],
]

/** The commands that put a block around the text or into the document. */
export const blockCommands: Command[] = [
  {
    name: 'Quote',
    sign: Quote,
    words: 'blockquote',
    keys: 'Control+Shift+B',
    run: (editor) => editor.chain().focus().toggleBlockquote().run(),
    isActive: (editor) => editor.isActive('blockquote'),
  },
  ...callouts.map(([name, sign]) => ({
    name,
    sign,
    words: 'callout box admonition',
    run: (editor: Editor) => editor.chain().focus().toggleWrap('callout', { kind: name.toLowerCase() }).run(),
  })),
  {
    name: 'Details',
    sign: ChevronRight,
    words: 'toggle collapse summary',
    run: (editor) => editor.chain().focus().setDetails().run(),
  },
  {
    name: 'Table',
    sign: Table,
    words: 'rows columns grid',
    run: (editor) => editor.chain().focus().insertTable({ rows: 3, cols: 3, withHeaderRow: true }).run(),
    isPossible: (editor) => !editor.isActive('table'),
  },
  {
    name: 'Line',
    sign: Minus,
    words: 'divider horizontal rule separator',
    run: (editor) => editor.chain().focus().setHorizontalRule().run(),
  },
  {
    name: 'Formula',
    sign: Sigma,
    words: 'math latex equation block',
    run: (editor) => insertFormula(editor, 'blockMath'),
  },
  {
    name: 'Formula in the text',
    sign: Radical,
    words: 'math latex inline',
    run: (editor) => insertFormula(editor, 'inlineMath'),
  },
  { name: 'Picture or file', sign: Image, words: 'image attachment upload', run: chooseFiles },
  { name: 'Footnote', sign: Superscript, words: 'reference note', run: insertFootnote },
]

/** The commands that move the selected blocks. */
export const moveCommands: Command[] = [
  { name: 'Move up', sign: ArrowUp, keys: 'Alt+ArrowUp', run: (editor) => moveBlocks(editor, 'up') },
  { name: 'Move down', sign: ArrowDown, keys: 'Alt+ArrowDown', run: (editor) => moveBlocks(editor, 'down') },
]

/** The commands for the table around the selection. */
export const tableCommands: Command[] = [
  { name: 'Add a row above', sign: 'Row above', run: (editor) => editor.chain().focus().addRowBefore().run() },
  { name: 'Add a row below', sign: 'Row below', run: (editor) => editor.chain().focus().addRowAfter().run() },
  { name: 'Delete the row', sign: 'Delete row', run: (editor) => editor.chain().focus().deleteRow().run() },
  {
    name: 'Add a column before',
    sign: 'Column before',
    run: (editor) => editor.chain().focus().addColumnBefore().run(),
  },
  {
    name: 'Add a column behind',
    sign: 'Column behind',
    run: (editor) => editor.chain().focus().addColumnAfter().run(),
  },
  { name: 'Delete the column', sign: 'Delete column', run: (editor) => editor.chain().focus().deleteColumn().run() },
  { name: 'Head row', sign: 'Head row', run: (editor) => editor.chain().focus().toggleHeaderRow().run() },
  { name: 'Head column', sign: 'Head column', run: (editor) => editor.chain().focus().toggleHeaderColumn().run() },
  {
    name: 'Merge or split cells',
    sign: 'Merge or split',
    run: (editor) => editor.chain().focus().mergeOrSplit().run(),
    isPossible: (editor) => editor.can().mergeOrSplit(),
  },
  { name: 'Delete the table', sign: 'Delete table', run: (editor) => editor.chain().focus().deleteTable().run() },
]

/** The commands for the block of code around the selection. */
export const codeCommands: Command[] = [{ name: 'Language of the code', sign: 'Language', run: chooseLanguage }]

function mark(type: string, command: Omit<Command, 'run' | 'isActive'>): Command {
  return {
    ...command,
    run: (editor) => editor.chain().focus().toggleMark(type).run(),
    isActive: (editor) => editor.isActive(type),
    isPossible: (editor) => editor.can().toggleMark(type),
  }
}

async function insertFormula(editor: Editor, type: 'blockMath' | 'inlineMath'): Promise<void> {
  const latex = await ask({ title: 'Add a formula', label: 'LaTeX', value: '', multiline: true, submit: 'Add' })
  editor.commands.focus()
  if (latex && editor.isEditable) insertAt(editor, leaveSelection(editor), [{ type, attrs: { latex } }])
}

// Puts a reference at the caret, and its note at the end of the document, where the caret goes.
function insertFootnote(editor: Editor): void {
  const labels = new Set<string>()
  editor.state.doc.descendants((node) => {
    if (node.type.name === 'footnoteDefinition') labels.add(node.attrs['label'])
  })
  let number = 1
  while (labels.has(String(number))) number += 1
  const label = String(number)
  const note = { type: 'footnoteDefinition', attrs: { label }, content: [{ type: 'paragraph' }] }
  insertAt(editor, leaveSelection(editor), [{ type: 'footnoteReference', attrs: { label } }])
  editor
    .chain()
    .command(({ tr, state }) => {
      tr.insert(tr.doc.content.size, state.schema.nodeFromJSON(note))
      return true
    })
    .focus('end')
    .run()
}
