import type { Client } from '../support/client.ts'

/** A block as a client keeps it; its position is its index. */
export type KeptBlock = { block_id: string; type: string; hash: string; text_excerpt: string }

type Change = {
  op: 'added' | 'removed' | 'modified' | 'moved'
  block_id: string
  type: string
  hash: string | null
  text_excerpt: string
  old_position: number | null
  new_position: number | null
  moved?: boolean
  cursor?: string
}

/** A client that keeps the manifest of one document current from the stream of its changes alone. */
export class Follower {
  readonly #client: Client
  readonly #path: string
  manifest: KeptBlock[] = []
  cursor = ''

  constructor(client: Client, documentId: string) {
    this.#client = client
    this.#path = `/documents/${documentId}/changes`
  }

  /** Takes a baseline. */
  async begin(): Promise<this> {
    const { data } = (await this.#client.get(this.#path)).body
    this.manifest = data.manifest.map(({ position: _, ...block }: KeptBlock & { position: number }) => block)
    this.cursor = data.cursor
    return this
  }

  /**
   * Asks for the following changes, in pages of `limit` batches. Returns the number of changes, or the reason for a new
   * baseline.
   */
  async follow(limit = 100): Promise<number | { freshness: string; sync_required: true }> {
    let count = 0
    for (;;) {
      const { status, text, body } = await this.#client.get(`${this.#path}?after=${this.cursor}&limit=${limit}`)
      if (status !== 200) throw new Error(`${status} ${text}`)
      if (body.data.sync_required) return body.data
      for (const batch of batchesOf(body.data.changes)) this.manifest = replay(this.manifest, batch)
      count += body.data.changes.length
      this.cursor = body.data.cursor
      if (!body.data.has_more) return count
    }
  }
}

/** Returns a manifest after a batch, by the rule in the description of the endpoint. Every position is checked. */
export function replay(manifest: readonly KeptBlock[], batch: readonly Change[]): KeptBlock[] {
  for (const { block_id, old_position } of batch) {
    const position = manifest.findIndex((block) => block.block_id === block_id)
    if (position !== (old_position ?? -1)) throw new Error(`${block_id} was at ${position}, not at ${old_position}`)
  }
  const goes = ({ op, moved }: Change) => op === 'removed' || op === 'moved' || moved === true
  const comes = ({ op, moved }: Change) => op === 'added' || op === 'moved' || moved === true
  const gone = new Set(batch.filter(goes).map(({ block_id }) => block_id))
  const next = manifest.filter(({ block_id }) => !gone.has(block_id))
  const coming = batch.filter(comes).sort((a, b) => (a.new_position ?? 0) - (b.new_position ?? 0))
  for (const change of coming) next.splice(change.new_position ?? 0, 0, kept(change))
  for (const change of batch) {
    if (change.new_position === null) continue
    if (next[change.new_position]?.block_id !== change.block_id) throw new Error(`${change.block_id} is elsewhere`)
    next[change.new_position] = kept(change)
  }
  return next
}

function kept({ block_id, type, hash, text_excerpt }: Change): KeptBlock {
  return { block_id, type, hash: hash ?? '', text_excerpt }
}

function batchesOf(changes: readonly Change[]): Change[][] {
  return [...Map.groupBy(changes, ({ cursor }) => cursor).values()]
}
