import * as Y from 'yjs'
import { bodyFragment } from '../../shared/body/yjs/encoding.ts'
import { Choices } from './choices.ts'
import { edits, nearestOffset, offsetsOf, spotsOf } from './edits.ts'
import { Tab, type TabOptions } from './tab.ts'
import { count, pause, type StormDocument, type World } from './world.ts'

/** Where an editor sits: the address of a collab process, a token, and how fast it works. */
export type SeatOptions = { url: string; token: string; name: string; restlessness: number }

const actions = {
  ...{ type: 50, deleteText: 8, mark: 6, split: 6, undo: 4, redo: 1, join: 3, paste: 3, move: 3, retype: 2 },
  ...{ deleteBlocks: 2, setAttribute: 2, fillEmpty: 1, offline: 2, openTab: 1, closeTab: 1, reload: 0.3 },
}

/** A person in front of one document, with one or two tabs. */
export class Seat {
  readonly tabs: Tab[] = []
  readonly document: StormDocument
  readonly #world: World
  readonly #options: SeatOptions
  readonly #choices: Choices
  #opened = 0
  #offline: { tab: Tab; actions: number } | null = null

  constructor(world: World, document: StormDocument, options: SeatOptions) {
    this.#world = world
    this.document = document
    this.#options = options
    this.#choices = new Choices(world.seed, options.name)
    this.#open()
  }

  /** Edits until the run is over. */
  async work(): Promise<void> {
    while (!this.#world.isOver) {
      await pause(this.#world, this.#choices.between(50, 2 * this.#options.restlessness))
      const tab = this.#choices.pick(this.tabs)
      if (tab === undefined || !tab.isOpen) continue
      await this.#act(tab)
      this.#countOffline()
    }
  }

  /** Brings all tabs online, for the end of a run. */
  comeBack(): void {
    this.#offline?.tab.goOnline()
    this.#offline = null
  }

  /** Reloads some tabs which were told that everything is saved, as people do who trust that message. */
  reloadSaved(): void {
    for (const tab of this.tabs.filter(({ unsaved }) => unsaved.size === 0)) {
      if (!this.#choices.chance(0.5)) continue
      this.#close(tab)
      this.#open()
      count(this.#world, 'edit: reload of a saved tab before a kill')
    }
  }

  async #act(tab: Tab): Promise<void> {
    const action = this.#chooseAction(tab)
    count(this.#world, `edit: ${action}`)
    if (action === 'type') return this.#type(tab)
    if (action === 'undo' || action === 'redo') return tab.takeBack(action)
    if (action === 'offline') return this.#goOffline(tab)
    if (action === 'openTab') return this.tabs.length < 2 ? this.#open() : undefined
    if (action === 'closeTab') return this.tabs.length > 1 ? this.#close(tab) : undefined
    if (action === 'reload') {
      this.#close(tab)
      return this.#open()
    }
    const desk = { doc: tab.doc, choices: this.#choices, untouched: this.document.untouched }
    tab.edit(action, () => edits[action](desk))
  }

  #chooseAction(tab: Tab): keyof typeof actions {
    const action = this.#choices.weighted(actions)
    const isLarge = bodyFragment(tab.doc).length > this.document.size * 1.3 + 5
    return isLarge && (action === 'paste' || action === 'split') ? 'deleteBlocks' : action
  }

  /** Types a word, letter by letter, while others work around it. */
  async #type(tab: Tab): Promise<void> {
    const desk = { doc: tab.doc, choices: this.#choices, untouched: this.document.untouched }
    const spot = this.#choices.pick(spotsOf(desk))
    if (spot === undefined) return
    let caret = caretAt(spot.text, this.#choices.pick(offsetsOf(spot.text)) ?? 0)
    for (let left = this.#choices.between(2, 8); left > 0; left -= 1) {
      const place = Y.createAbsolutePositionFromRelativePosition(caret, tab.doc)
      const text = place?.type
      // Somebody has deleted the text, or the end of the run or of the tab has come.
      if (!(text instanceof Y.XmlText) || text._item?.deleted !== false || !this.tabs.includes(tab)) return
      if (this.#world.isOver) return
      const offset = nearestOffset(text, place?.index ?? 0)
      const { characters } = this.#world
      tab.press(text, { offset, characters })
      count(this.#world, 'keystrokes')
      caret = caretAt(text, offset + 2)
      await pause(this.#world, this.#choices.between(20, 150))
    }
    const place = Y.createAbsolutePositionFromRelativePosition(caret, tab.doc)
    const text = place?.type
    if (text instanceof Y.XmlText && text._item?.deleted === false && this.tabs.includes(tab))
      tab.edit('types', () => text.insert(nearestOffset(text, place?.index ?? 0), ' '))
  }

  #open(): void {
    this.#opened += 1
    const { url, token, name } = this.#options
    const { id, ledger } = this.document
    const options: TabOptions = { url, token, document: id, by: `${name}.${this.#opened}`, ledger }
    this.tabs.push(new Tab(options))
  }

  #close(tab: Tab): void {
    if (this.#offline?.tab === tab) this.#offline = null
    this.tabs.splice(this.tabs.indexOf(tab), 1)
    tab.close()
  }

  #goOffline(tab: Tab): void {
    if (this.#offline !== null) return
    tab.goOffline()
    const isLong = this.#choices.chance(0.3)
    this.#offline = { tab, actions: this.#choices.between(1, 5) * (isLong ? 6 : 1) }
  }

  #countOffline(): void {
    if (this.#offline === null) return
    this.#offline.actions -= 1
    if (this.#offline.actions <= 0) this.comeBack()
  }
}

// The caret belongs to the character before it, as that of an editor does who has just typed that character.
function caretAt(text: Y.XmlText, offset: number): Y.RelativePosition {
  return Y.createRelativePositionFromTypeIndex(text, offset, -1)
}
