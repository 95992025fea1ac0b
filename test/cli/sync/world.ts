import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { Client } from '../../support/client.ts'
import type { Teardown } from '../../support/site.ts'
import { Crash, crashing } from './crashes.ts'
import { Machine, saidBy } from './machine.ts'

/** A step of a test: who does what. `choices` decide about everything else. */
export type Step = { kind: (typeof kinds)[number]; machine: 0 | 1; choices: number[] }

const kinds = [
  ...(['edit', 'edit', 'edit', 'edit', 'create', 'delete', 'move', 'meanwhile', 'together'] as const),
  ...(['edit there', 'edit there', 'edit there', 'create there', 'delete there', 'move there'] as const),
  ...(['sync', 'sync', 'sync', 'crash', 'crash', 'crash'] as const),
]

/** Steps of a test. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    machine: fc.constantFrom(0 as const, 1 as const),
    choices: fc.array(fc.nat(1000), { minLength: 6, maxLength: 6 }),
  }),
  { minLength: 6, maxLength: 24 },
)

/**
 * A knowledge base, two folders that are synced with it, and a person who writes in the browser. Every paragraph that
 * anybody writes has words of its own. The world remembers which words somebody has taken away on purpose.
 */
export class SyncWorld {
  readonly machines: readonly [Machine, Machine]
  readonly #client: Client
  readonly #base: number
  readonly #written = new Set<string>()
  readonly #takenAway = new Set<string>()
  #words = 0
  #mayDouble = false

  private constructor(t: Teardown, client: Client, base: number) {
    this.#client = client
    this.#base = base
    this.machines = [new Machine(t, client, { base }), new Machine(t, client, { base })]
  }

  /** A world with two documents that both folders have. */
  static async begin(t: Teardown, client: Client): Promise<SyncWorld> {
    const { body } = await client.post('/knowledge-bases', { name: 'World' })
    const world = new SyncWorld(t, client, body.data.id)
    for (const title of ['One', 'Two']) {
      await world.#createThere(title, [world.#word(), world.#word(), world.#word()])
    }
    for (const machine of world.machines) await machine.sync()
    return world
  }

  /** Takes one step. */
  async take({ kind, machine: index, choices }: Step): Promise<void> {
    const machine = this.machines[index]
    const [first = 0, second = 0] = choices
    switch (kind) {
      case 'edit':
        return this.#editFile(machine, choices)
      case 'create': {
        const directory = ['', 'Deep/', 'Deep/er/'][first % 3]
        return machine.write(`${directory}File ${this.#name()}.md`, `${this.#word()}\n\n* ${this.#word()}\n`)
      }
      case 'delete': {
        const path = pick(machine.files(), first)
        if (path === undefined) return
        this.#mayDouble = true
        this.#takeAway(machine.read(path))
        return machine.remove(path)
      }
      case 'move': {
        const path = pick(machine.files(), first)
        if (path !== undefined) machine.move(path, `${['', 'Deep/', 'Else/'][second % 3]}Moved ${this.#name()}.md`)
        return
      }
      case 'sync':
        return void (await machine.sync())
      case 'crash':
        return this.#syncAndCrash(machine, first % 30)
      case 'meanwhile':
        return this.#syncMeanwhile(machine, choices)
      case 'together':
        await Promise.all([...this.machines.map((machine) => machine.sync()), this.#editThere(choices)])
        return
      case 'edit there':
        return this.#editThere(choices)
      case 'create there':
        return void (await this.#createThere(`There ${this.#name()}`, [this.#word(), this.#word()]))
      case 'delete there': {
        const id = pick(await this.#ids(), first)
        if (id === undefined) return
        this.#mayDouble = true
        this.#takeAway((await this.#body(id)).content)
        await this.#client.delete(`/documents/${id}`)
        return
      }
      case 'move there': {
        const id = pick(await this.#ids(), first)
        if (id !== undefined) await this.#client.patch(`/documents/${id}`, { title: `Renamed ${this.#name()}` })
        return
      }
    }
  }

  /** Syncs both folders in turn until neither has anything to do. */
  async settle(): Promise<void> {
    for (let round = 0; round < 12; round += 1) {
      const reports = [await this.machines[0].sync(), await this.machines[1].sync()]
      const failed = reports.flatMap((report) => report.failed)
      if (failed.length > 0) throw new Error(`failed: ${JSON.stringify(failed)}`)
      if (reports.every(({ actions, conflicts }) => actions.length + conflicts.length === 0)) return
    }
    throw new Error('the folders do not come to rest')
  }

  /** Throws unless both folders equal the service, and every word is there that nobody has taken away. */
  async check(): Promise<void> {
    // Files of documents with the same title may have different names.
    const [one, two] = this.machines.map((machine) => {
      const texts = machine.files().map((path) => saidBy(machine.read(path)))
      return JSON.stringify(texts.sort(), null, 1)
    })
    if (one !== two) throw new Error(`the folders differ:\n${one}\n${two}`)
    const ids = await this.#ids()
    if (ids.length !== this.machines[0].files().length) throw new Error(`${ids.length} documents, but ${one}`)
    const bodies = await Promise.all(ids.map((id) => this.#body(id)))
    for (const { content } of bodies) {
      if (!one?.includes(JSON.stringify(saidBy(content)))) throw new Error(`no file has\n${content}\nbut ${one}`)
    }
    const words = bodies.flatMap(({ content }) => wordsOf(content))
    const copies = this.machines.flatMap((machine) => machine.copies().flatMap((path) => wordsOf(machine.read(path))))
    const found = new Set([...words, ...copies])
    const lost = [...this.#written].filter((word) => !found.has(word) && !this.#takenAway.has(word))
    if (lost.length > 0) throw new Error(`lost: ${lost.join()} of\n${one}`)
    const doubled = words.filter((word, index) => words.indexOf(word) !== index)
    // A document that one side has deleted and both folders have changed lives on as two documents.
    if (doubled.length > 0 && !this.#mayDouble) throw new Error(`doubled: ${doubled.join()} of\n${one}`)
  }

  #editFile(machine: Machine, [first = 0, ...choices]: number[]): void {
    const path = pick(machine.files(), first)
    // An empty file is left alone, so whoever takes away everything leaves an empty line.
    if (path !== undefined) machine.write(path, this.#edited(machine.read(path), choices) || '\n')
  }

  async #editThere([first = 0, ...choices]: number[]): Promise<void> {
    const id = pick(await this.#ids(), first)
    if (id === undefined) return
    const { content, version } = await this.#body(id)
    const [written, takenAway] = [new Set(this.#written), new Set(this.#takenAway)]
    const body = { format: 'markdown', content: this.#edited(content, choices) }
    const reply = await this.#client.put(`/documents/${id}/content`, body, { 'if-match': `"${version}"` })
    if (reply.status === 200) return
    // Somebody else was first, so nothing was written and nothing was taken away.
    for (const word of this.#written) if (!written.has(word)) this.#written.delete(word)
    for (const word of this.#takenAway) if (!takenAway.has(word)) this.#takenAway.delete(word)
  }

  async #syncAndCrash(machine: Machine, steps: number): Promise<void> {
    await crashing(steps, (signal) => machine.sync({ signal })).catch((error) => {
      if (!(error instanceof Crash)) throw error
    })
  }

  async #syncMeanwhile(machine: Machine, choices: number[]): Promise<void> {
    const sync = machine.sync()
    for (const choice of choices.slice(0, 3)) {
      await sleep(choice % 25)
      this.#editFile(
        machine,
        choices.map((other) => other + choice),
      )
    }
    await sync
  }

  // Changes the paragraphs of a Markdown text, each of which is a line of words.
  #edited(text: string, [kind = 0, first = 0, second = 0]: number[]): string {
    const lines = text.split('\n')
    const paragraphs = lines.flatMap((line, index) => (wordsOf(line).length > 0 && !/^\w+:/.test(line) ? [index] : []))
    const at = pick(paragraphs, first)
    if (at === undefined) return `${text}\n${this.#word()}\n`
    const line = lines[at] ?? ''
    switch (kind % 7) {
      case 0: // Replaces a paragraph.
        this.#takeAway(line)
        lines[at] = this.#word()
        break
      case 1: // Goes on with a paragraph.
        lines[at] = `${line} ${this.#word()}`
        break
      case 2: // Adds a paragraph behind another, in a form that the service writes differently.
        lines.splice(at + 1, 0, '', `__${this.#word()}__`, '', this.#word())
        break
      case 3: // Deletes a paragraph and leaves its anchor.
        this.#takeAway(line)
        lines.splice(at, 1)
        break
      case 4: // Deletes a paragraph with its anchor.
        this.#takeAway(line)
        lines.splice(Math.max(0, at - 1), 2)
        break
      case 5: {
        // Moves a paragraph with its anchor.
        if (!lines[at - 1]?.startsWith('<!-- block=')) break
        const moved = lines.splice(at - 1, 2)
        const target = pick(
          lines.flatMap((line, index) => (line.startsWith('<!-- block=') ? [index] : [])),
          second,
        )
        lines.splice(target ?? lines.length, 0, ...moved, '')
        break
      }
      default: // A program that knows nothing of anchors. If both sides change a paragraph now, both versions stay.
        this.#mayDouble = true
        return lines.filter((line) => !line.startsWith('<!-- block=')).join('\n')
    }
    return lines.join('\n')
  }

  #word(): string {
    this.#words += 1
    const word = `w${this.#words}x`
    this.#written.add(word)
    return word
  }

  #name(): string {
    this.#words += 1
    return `n${this.#words}`
  }

  #takeAway(text: string): void {
    for (const word of wordsOf(text)) this.#takenAway.add(word)
  }

  async #createThere(title: string, words: string[]): Promise<void> {
    const content = { format: 'markdown', content: words.join('\n\n') }
    await this.#client.post('/documents', { title, knowledge_base_id: this.#base, content })
  }

  async #ids(): Promise<string[]> {
    const { body } = await this.#client.get(`/documents?knowledge_base_id=${this.#base}&limit=100`)
    return (body.data as { id: string }[]).map(({ id }) => id)
  }

  async #body(id: string): Promise<{ content: string; version: string }> {
    const { body } = await this.#client.get(`/documents/${id}/content?format=markdown&annotate=anchors`)
    return body.data ?? { content: '', version: '' }
  }
}

function pick<T>(items: readonly T[], choice: number): T | undefined {
  return items[choice % items.length]
}

function wordsOf(text: string): string[] {
  return text.match(/w\d+x/g) ?? []
}
