import pg from 'pg'
import type { DocNode } from '../../shared/body/document.ts'

/** Two ways to change one block of a stored body without any function of a service. */
export class Baselines {
  readonly #client: pg.Client
  #turn = 0

  constructor(url: string) {
    this.#client = new pg.Client(url)
  }

  static async open(url: string): Promise<Baselines> {
    const baselines = new Baselines(url)
    await baselines.#client.connect()
    await baselines.#client.query('CREATE TEMPORARY TABLE naive_bodies (body jsonb)')
    await baselines.#client.query('CREATE TEMPORARY TABLE bare_bodies (seq bigint PRIMARY KEY, body text)')
    return baselines
  }

  /** Chooses the document that is changed. */
  async fill(document: DocNode): Promise<void> {
    await this.#client.query('DELETE FROM naive_bodies')
    await this.#client.query('DELETE FROM bare_bodies')
    await this.#client.query('INSERT INTO naive_bodies VALUES ($1)', [JSON.stringify(document)])
    const lines = document.content.map((block) => JSON.stringify(block)).join('\n')
    await this.#client.query('INSERT INTO bare_bodies VALUES (0, $1)', [lines])
  }

  /** Processor time of this process for one change, in ms: read and parse jsonb, change it, write the whole body. */
  naive(count: number): Promise<number> {
    return processorTime(count, async () => {
      this.#turn += 1
      await this.#client.query('BEGIN')
      const { rows } = await this.#client.query<{ body: DocNode }>('SELECT body FROM naive_bodies FOR UPDATE')
      const { content = [] } = rows[0]?.body ?? {}
      const block = content[this.#turn % content.length]
      if (block !== undefined) block.content = [{ type: 'text', text: `turn ${this.#turn}` }]
      await this.#client.query('UPDATE naive_bodies SET body = $1', [JSON.stringify({ type: 'doc', content })])
      await this.#client.query('COMMIT')
    })
  }

  /** Processor time of this process for moving the bytes, in ms: read the text, write it as a new row. */
  bare(count: number): Promise<number> {
    return processorTime(count, async () => {
      await this.#client.query('BEGIN')
      const { rows } = await this.#client.query('SELECT seq, body FROM bare_bodies ORDER BY seq DESC LIMIT 1')
      await this.#client.query('INSERT INTO bare_bodies VALUES ($1, $2)', [Number(rows[0]?.seq) + 1, rows[0]?.body])
      await this.#client.query('DELETE FROM bare_bodies WHERE seq < $1', [Number(rows[0]?.seq) - 20])
      await this.#client.query('COMMIT')
    })
  }

  end(): Promise<void> {
    return this.#client.end()
  }
}

async function processorTime(count: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < count; index += 1) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / count
}
