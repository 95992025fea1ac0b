import { createHash } from 'node:crypto'
import { type KeptBlock, replay } from '../changes/follower.ts'
import type { Client } from '../support/client.ts'
import { Choices } from './choices.ts'
import { count, pause, type StormDocument, type World } from './world.ts'

/** What an answer claimed: that a version was the current one at some time between the request and the answer. */
export type Claim = {
  what: string
  document: string
  version: string
  from: number
  to: number
  /** The digest of the manifest that belongs to the version, where the answer leads to one. */
  manifest?: string
  /** A text that stands in a block of the version, where the answer says so. */
  text?: { block: string; text: string }
}

type Page = {
  changes: (Parameters<typeof replay>[1][number] & { cursor: string; source_version: string })[]
  freshness: string
  sync_required: boolean
  cursor: string
  has_more: boolean
}

/** A program that follows the changes of a document from its first body on. */
export class ChangesReader {
  readonly document: StormDocument
  /** The batches in the order of their arrival. */
  readonly batches: Page['changes'][] = []
  /** The versions that the batches named, oldest first. */
  readonly versions: string[] = []
  manifest: KeptBlock[] = []
  version = ''
  #cursor = ''

  constructor(document: StormDocument) {
    this.document = document
  }

  /** Takes the baseline. */
  async begin(client: Client): Promise<this> {
    const [{ body }, content] = [
      await client.get(this.#path),
      await client.get(`/documents/${this.document.id}/content`),
    ]
    this.manifest = body.data.manifest.map(({ position: _, ...block }: KeptBlock & { position: number }) => block)
    this.#cursor = body.data.cursor
    this.version = content.body.data.version
    return this
  }

  /** Takes one page. Returns whether the answer said that it is current and complete, or why it must begin again. */
  async step(client: Client): Promise<{ isCurrent: boolean; fault: string | null }> {
    const { status, body } = await client.get(`${this.#path}?after=${this.#cursor}`)
    if (status !== 200) return { isCurrent: false, fault: null }
    const { changes, freshness, sync_required, cursor, has_more } = body.data as Page
    if (freshness !== 'current') return { isCurrent: false, fault: null }
    if (sync_required) return { isCurrent: false, fault: 'the changes were said to be too old to follow' }
    for (const batch of Map.groupBy(changes, (change) => change.cursor).values()) {
      this.batches.push(batch)
      try {
        this.manifest = replay(this.manifest, batch)
      } catch (error) {
        return { isCurrent: false, fault: `a batch of changes does not fit: ${error}` }
      }
      this.version = batch[0]?.source_version ?? this.version
      this.versions.push(this.version)
    }
    this.#cursor = cursor
    return { isCurrent: !has_more, fault: null }
  }

  get #path(): string {
    return `/documents/${this.document.id}/changes`
  }
}

/** Reads derived data until the run is over, and records what the answers claim. */
export async function watch(
  world: World,
  { client, readers, claims }: { client: Client; readers: readonly ChangesReader[]; claims: Claim[] },
): Promise<void> {
  const choices = new Choices(world.seed, 'watch')
  while (!world.isOver) {
    await pause(world, choices.between(50, 400))
    const reader = choices.pick(readers)
    if (world.isOver || reader === undefined) continue
    const from = Date.now()
    const look = choices.pick([watchChanges, watchSearch, watchRelations, watchSummary, watchContent])
    // While PostgreSQL is away or an answer is cut off, there is no claim.
    const made = await look?.({ world, client, reader, choices }).catch(() => [])
    for (const claim of made ?? []) {
      claims.push({ ...claim, from, to: Date.now() })
      count(world, `claim: ${claim.what}`)
    }
  }
}

type Look = { world: World; client: Client; reader: ChangesReader; choices: Choices }
type Made = Omit<Claim, 'from' | 'to'>[]

async function watchChanges({ world, client, reader }: Look): Promise<Made> {
  const { isCurrent, fault } = await reader.step(client)
  if (fault !== null) world.violations.push(`${reader.document.name}: ${fault}`)
  if (!isCurrent) return []
  const document = reader.document.id
  return [{ what: 'changes', document, version: reader.version, manifest: manifestDigest(reader.manifest) }]
}

async function watchSearch({ world, client, choices }: Look): Promise<Made> {
  const word = `storm${choices.between(Math.max(1, world.characters.used - 400), world.characters.used + 1)}x`
  const { status, body } = await client.get(`/search/v2?q=${word}&limit=20`)
  if (status !== 200) return []
  type Hit = { document_id: string; block_id: string | null; source_version: string }
  return body.data.results.map(({ document_id, block_id, source_version }: Hit) => {
    const text = block_id === null ? {} : { text: { block: block_id, text: word } }
    return { what: 'search', document: document_id, version: source_version, ...text }
  })
}

async function watchRelations({ client, reader }: Look): Promise<Made> {
  const { id } = reader.document
  const { status, body } = await client.get(`/documents/${id}/relations?direction=outgoing`)
  if (status !== 200) return []
  type Relation = { source: { block_id: string }; evidence_freshness: string; source_version: string }
  const current = (body.data as Relation[]).filter(({ evidence_freshness }) => evidence_freshness === 'current')
  return current.map(({ source, source_version }) => {
    return {
      what: 'relations',
      document: id,
      version: source_version,
      text: { block: source.block_id, text: 'svc://doc/' },
    }
  })
}

async function watchSummary({ client, reader }: Look): Promise<Made> {
  const { id } = reader.document
  const { status, body } = await client.get(`/documents/${id}/summary`)
  if (status !== 200 || body.data.freshness !== 'current' || body.data.status !== 'ready') return []
  return [{ what: 'summaries', document: id, version: body.data.source_version }]
}

async function watchContent({ client, reader }: Look): Promise<Made> {
  const { id } = reader.document
  const { status, body } = await client.get(`/documents/${id}/content`)
  return status === 200 ? [{ what: 'content', document: id, version: body.data.version }] : []
}

/** The digest of a manifest in the order of its blocks. */
export function manifestDigest(manifest: readonly KeptBlock[]): string {
  const blocks = manifest.map(({ block_id, type, hash, text_excerpt }) => [block_id, type, hash, text_excerpt])
  return createHash('sha256').update(JSON.stringify(blocks)).digest('hex')
}
