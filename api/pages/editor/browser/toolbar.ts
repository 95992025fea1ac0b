import type { Editor } from '@tiptap/core'
import { Plus, Search } from 'lucide'
import { createChoices } from './choices.ts'
import {
  type Command,
  codeCommands,
  historyCommands,
  kindCommands,
  listCommands,
  moveCommands,
  tableCommands,
  textCommands,
} from './commands.ts'
import { signElement } from './icons.ts'
import { canOpenSlashMenu } from './slash-menu.ts'

type Shown = { command: Command; button: HTMLButtonElement }

/**
 * Makes the toolbar of an editor. It is one stop of the Tab key, the arrow keys lead through it, and Escape leads back
 * to the text. Alt+F10 leads from the text to the toolbar. `openMenu` opens the menu of blocks, `openFind` the bar that
 * finds text.
 */
export function createToolbar(
  editor: Editor,
  { openMenu, openFind }: { openMenu: () => void; openFind: () => void },
): HTMLElement {
  const toolbar = document.createElement('div')
  toolbar.className = 'toolbar'
  toolbar.setAttribute('role', 'toolbar')
  toolbar.setAttribute('aria-label', 'Text tools')
  const kinds = kindList(editor)
  const choices = createChoices(editor)
  const menu: Command = { name: 'Add a block', sign: Plus, run: openMenu, isPossible: canOpenSlashMenu }
  const find: Command = { name: 'Find and replace', sign: Search, keys: 'Control+F', run: openFind }
  const further = [menu, ...moveCommands, find]
  const shown = [...historyCommands, ...textCommands, ...listCommands, ...further].map((command) =>
    shownButton(editor, command),
  )
  const ofPlace = [
    placeGroup(editor, { type: 'table', label: 'Table', commands: tableCommands }),
    placeGroup(editor, { type: 'codeBlock', label: 'Code', commands: codeCommands }),
  ]
  const [undo, redo, ...rest] = shown.map(({ button }) => button)
  toolbar.append(
    group(undo, redo),
    kinds,
    group(...rest, ...choices.elements),
    ...ofPlace.map(({ element }) => element),
  )
  moveByArrows(toolbar, editor)

  const update = () => {
    toolbar.hidden = !editor.isEditable
    for (const { element, type } of ofPlace) element.hidden = !editor.isActive(type)
    choices.update()
    kinds.value = String(kindCommands.findIndex((command) => command.isActive?.(editor)))
    for (const { command, button } of [...shown, ...ofPlace.flatMap(({ buttons }) => buttons)]) {
      if (command.isActive) button.setAttribute('aria-pressed', String(command.isActive(editor)))
      button.setAttribute('aria-disabled', String(command.isPossible?.(editor) === false))
    }
  }
  editor.on('transaction', onceAFrame(update))
  editor.on('update', onceAFrame(update))
  update()
  return toolbar
}

// The tools for the block of one type, which are there while the selection is in such a block.
function placeGroup(editor: Editor, { type, label, commands }: { type: string; label: string; commands: Command[] }) {
  const buttons = commands.map((command) => shownButton(editor, command))
  const element = group(...buttons.map(({ button }) => button))
  element.setAttribute('role', 'group')
  element.setAttribute('aria-label', label)
  return { type, element, buttons }
}

function group(...buttons: (HTMLElement | undefined)[]): HTMLElement {
  const element = document.createElement('div')
  element.append(...buttons.filter((button) => button !== undefined))
  return element
}

// A button that is not possible stays in its place and can be reached, but does nothing.
function shownButton(editor: Editor, command: Command): Shown {
  const button = document.createElement('button')
  button.type = 'button'
  button.append(signElement(command.sign))
  button.title = command.name
  button.tabIndex = -1
  button.setAttribute('aria-label', command.name)
  if (command.keys !== undefined) button.setAttribute('aria-keyshortcuts', command.keys)
  // The press of a mouse button would take the focus, and with it the selection, away from the text.
  button.addEventListener('mousedown', (event) => event.preventDefault())
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') command.run(editor)
  })
  return { command, button }
}

function kindList(editor: Editor): HTMLSelectElement {
  const list = document.createElement('select')
  list.setAttribute('aria-label', 'Kind of block')
  const other = new Option('Other', '-1')
  other.disabled = true
  list.append(other, ...kindCommands.map(({ name }, index) => new Option(name, String(index))))
  list.addEventListener('change', () => kindCommands[Number(list.value)]?.run(editor))
  return list
}

function moveByArrows(toolbar: HTMLElement, editor: Editor): void {
  const stops = () =>
    [...toolbar.querySelectorAll<HTMLElement>('button, select')].filter((one) => one.checkVisibility())
  const enter = (stop: HTMLElement | undefined) => {
    for (const one of toolbar.querySelectorAll<HTMLElement>('button, select')) one.tabIndex = one === stop ? 0 : -1
  }
  enter(toolbar.querySelector<HTMLElement>('button') ?? undefined)
  toolbar.addEventListener('focusin', ({ target }) => enter(target as HTMLElement))
  toolbar.addEventListener('keydown', (event) => {
    const all = stops()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const places: { [key: string]: number } = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }
    const next = places[event.key]
    if (event.key === 'Escape') editor.commands.focus()
    else if (next !== undefined) all[(next + all.length) % all.length]?.focus()
    else return
    event.preventDefault()
  })
  editor.view.dom.addEventListener('keydown', (event) => {
    if (event.altKey && event.key === 'F10') toolbar.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
  })
}

function onceAFrame(update: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      update()
    })
  }
}
