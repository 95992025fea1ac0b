import type { Editor } from '@tiptap/core'

/** A list in the toolbar from which the user chooses one of several values for the selected text. */
type Choice = {
  name: string
  /** The values with their names. The first value is that of a text that nobody has changed. */
  values: [value: string, name: string][]
  current: (editor: Editor) => string
  choose: (editor: Editor, value: string) => void
}

const choices: Choice[] = [
  {
    name: 'Colour of the text',
    values: [
      ['', 'Colour'],
      ['#b3261e', 'Red'],
      ['#8a5200', 'Brown'],
      ['#1c6b3c', 'Green'],
      ['#0b54b0', 'Blue'],
      ['#7438b0', 'Purple'],
      ['#59616e', 'Grey'],
    ],
    current: (editor) => colourOf(editor, 'textStyle'),
    choose: (editor, color) => setColour(editor, { mark: 'textStyle', color }),
  },
  {
    name: 'Highlight',
    values: [
      ['', 'Highlight'],
      ['#fff3a3', 'Yellow'],
      ['#c8f0d4', 'Green'],
      ['#cfe3ff', 'Blue'],
      ['#ffd9e6', 'Pink'],
      ['#e6d9ff', 'Purple'],
    ],
    current: (editor) => colourOf(editor, 'highlight'),
    choose: (editor, color) => setColour(editor, { mark: 'highlight', color }),
  },
  {
    name: 'Alignment',
    values: [
      ['', 'Alignment'],
      ['left', 'Left'],
      ['center', 'Centre'],
      ['right', 'Right'],
      ['justify', 'Justified'],
    ],
    current: (editor) => String(editor.state.selection.$from.parent.attrs['textAlign'] ?? ''),
    choose(editor, value) {
      const textAlign = value === '' ? null : value
      const chain = editor.chain().focus()
      chain.updateAttributes('paragraph', { textAlign }).updateAttributes('heading', { textAlign }).run()
    },
  },
]

/** Makes the lists of colours and alignments, with a function that shows the values of the selection. */
export function createChoices(editor: Editor): { elements: HTMLSelectElement[]; update: () => void } {
  const shown = choices.map((choice) => ({ choice, list: listOf(editor, choice) }))
  return {
    elements: shown.map(({ list }) => list),
    update() {
      for (const { choice, list } of shown) {
        const value = choice.current(editor)
        // A value that is not in the list was written by a program or elsewhere.
        list.value = choice.values.some(([one]) => one === value) ? value : ''
      }
    },
  }
}

function listOf(editor: Editor, { name, values, choose }: Choice): HTMLSelectElement {
  const list = document.createElement('select')
  list.setAttribute('aria-label', name)
  list.title = name
  list.append(...values.map(([value, words]) => new Option(words, value)))
  list.addEventListener('change', () => choose(editor, list.value))
  return list
}

function colourOf(editor: Editor, mark: string): string {
  const color: unknown = editor.getAttributes(mark)['color']
  return typeof color === 'string' ? color : ''
}

function setColour(editor: Editor, { mark, color }: { mark: string; color: string }): void {
  const chain = editor.chain().focus()
  if (color === '') chain.unsetMark(mark).run()
  else chain.setMark(mark, { color }).run()
}
