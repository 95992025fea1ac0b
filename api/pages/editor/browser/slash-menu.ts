import { type Editor, Extension } from '@tiptap/core'
import { Suggestion, type SuggestionKeyDownProps, type SuggestionProps } from '@tiptap/suggestion'
import { blockCommands, type Command, kindCommands, listCommands } from './commands.ts'
import { type Sign, signElement } from './icons.ts'
import { insertAt, leaveSelection } from './insertion.ts'

/** A line of a menu. */
type Line = { name: string; sign: Sign }

/**
 * The menu of blocks, which a slash opens at the start of a word. What is typed next narrows it. The focus stays in the
 * text, whose `aria-activedescendant` names the chosen line of the menu.
 */
export const SlashMenu = Extension.create({
  name: 'slashMenu',
  addProseMirrorPlugins() {
    return [
      Suggestion<Command, Command>({
        editor: this.editor,
        char: '/',
        items: ({ query, editor }) => matching(query, editor),
        allow: ({ editor, state, range }) => editor.isEditable && !state.doc.resolve(range.from).parent.type.spec.code,
        command({ editor, range, props: command }) {
          editor.chain().deleteRange(range).run()
          command.run(editor)
        },
        render: () => new MenuView<Command>({ id: 'slash-menu', label: 'Blocks' }),
      }),
    ]
  },
})

/**
 * Opens the menu by inserting the slash that opens it, behind a space where the slash follows a word. What is selected
 * stays, and the slash stands behind it.
 */
export function openSlashMenu(editor: Editor): void {
  editor.commands.focus()
  const { $to } = editor.state.selection
  const isText = $to.parent.isTextblock
  const before = isText ? $to.parent.textBetween(0, $to.parentOffset, null, ' ').at(-1) : undefined
  const text = before === undefined || before === ' ' ? '/' : ' /'
  insertAt(editor, leaveSelection(editor), [{ type: 'text', text }])
}

/** Whether the menu can open at the end of the selection. Code has a slash of its own. */
export function canOpenSlashMenu(editor: Editor): boolean {
  return editor.isEditable && !editor.state.selection.$to.parent.type.spec.code
}

function matching(query: string, editor: Editor): Command[] {
  const words = query.toLowerCase()
  return [...kindCommands, ...listCommands, ...blockCommands].filter(({ name, words: further = '', isPossible }) => {
    const isMeant = name.toLowerCase().includes(words) || further.split(' ').some((word) => word.startsWith(words))
    return isMeant && isPossible?.(editor) !== false
  })
}

/**
 * The menu that a sign in the text opens. The focus stays in the text, whose `aria-activedescendant` names the chosen
 * line of the menu. `label` is what the lines are.
 */
export class MenuView<Item extends Line> {
  readonly #list = document.createElement('ul')
  #props: SuggestionProps<Item, Item> | null = null
  #chosen = 0
  #unmount = () => {}

  constructor({ id, label }: { id: string; label: string }) {
    this.#list.className = 'menu'
    this.#list.id = id
    this.#list.setAttribute('role', 'listbox')
    this.#list.setAttribute('aria-label', label)
  }

  onStart = (props: SuggestionProps<Item, Item>): void => {
    this.#unmount = props.mount(this.#list)
    this.onUpdate(props)
  }

  onUpdate = (props: SuggestionProps<Item, Item>): void => {
    // The lines before stay until the new lines are there.
    if (props.loading) return
    this.#props = props
    this.#chosen = 0
    this.#list.replaceChildren(...props.items.map((command, index) => this.#line(command, index)))
    this.#list.hidden = props.items.length === 0
    this.#show()
  }

  onKeyDown = ({ event }: SuggestionKeyDownProps): boolean => {
    const items = this.#props?.items ?? []
    const command = items[this.#chosen]
    if (command === undefined) return false
    if (event.key === 'Enter' || event.key === 'Tab') this.#props?.command(command)
    else if (event.key === 'ArrowDown') this.#choose((this.#chosen + 1) % items.length)
    else if (event.key === 'ArrowUp') this.#choose((this.#chosen + items.length - 1) % items.length)
    else return false
    return true
  }

  onExit = ({ editor }: SuggestionProps<Item, Item>): void => {
    this.#unmount()
    this.#list.remove()
    for (const name of ['aria-activedescendant', 'aria-controls']) editor.view.dom.removeAttribute(name)
  }

  #line({ name, sign }: Line, index: number): HTMLLIElement {
    const line = document.createElement('li')
    line.id = `${this.#list.id}-${index}`
    line.setAttribute('role', 'option')
    line.append(signElement(sign), name)
    line.addEventListener('mousedown', (event) => {
      event.preventDefault()
      const command = this.#props?.items[index]
      if (command) this.#props?.command(command)
    })
    return line
  }

  #choose(index: number): void {
    this.#chosen = index
    this.#show()
  }

  #show(): void {
    for (const [index, line] of [...this.#list.children].entries()) {
      line.setAttribute('aria-selected', String(index === this.#chosen))
    }
    const chosen = this.#list.children[this.#chosen]
    chosen?.scrollIntoView({ block: 'nearest' })
    const text = this.#props?.editor.view.dom
    text?.setAttribute('aria-controls', this.#list.id)
    text?.setAttribute('aria-activedescendant', chosen?.id ?? '')
  }
}
