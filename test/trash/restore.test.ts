import { decodeTime } from 'ulid'
import { storedFiles } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { isLong, onlyLong } from '../support/run-options.ts'
import { type Test, t } from '../support/tap.ts'
import { ok } from '../support/translations.ts'
import { blurredSince } from './blur.ts'
import { type Deletion, ofDocuments, ofPlaces } from './deletions.ts'
import { untilDerived } from './derived.ts'
import { type Copied, derive, prepareEverything } from './prepared.ts'
import { type Known, knownPlaces, type Reads, readEverything } from './reads.ts'
import { differences, readTables, type Tables } from './tables.ts'

const start = await prepareEverything(t)

// Tables that may differ between a deletion with the trash and one without it: the trash itself, the files that are
// removed at once without it, sets without members, which wait for them, and when a token was last used.
const waiting = ['trash_entries', 'trash_rows', 'loose_files', 'document_sets', 'translation_audit']
const ofTheTrash = new Set([...waiting, 'tokens'])

t.test(
  'nothing deleted is visible anywhere: with the trash, all reads and tables are as without it',
  onlyLong,
  async (t) => {
    const [kept, final] = [await start(t), await start(t, { TRASH_RETENTION_DAYS: '0' })]
    const blur = blurredSince(Date.now())
    const known = await knownPlaces(kept.ada, kept.everything)
    const steps = { documents: Object.values(ofDocuments), folders: [ofPlaces['a folder with a folder'] as Deletion] }
    for (const [name, deletions] of Object.entries({ ...steps, base: [ofPlaces['a knowledge base'] as Deletion] })) {
      for (const { ada, everything } of [kept, final]) for (const remove of deletions) await remove(ada, everything)
      const [withTrash, without] = [await stateOf(kept, known), await stateOf(final, known)]
      t.strictSame(unequalReads([without.reads, withTrash.reads], blur), {}, `${name}: reads`)
      t.strictSame(differences([without.tables, withTrash.tables], blur), {}, `${name}: tables`)
    }
    const files = await storedFiles(kept.service)
    for (const id of kept.everything.attachments) t.ok(files.includes(id), 'bytes live as long as the entry')
  },
)

type State = { reads: Reads; tables: Tables }

async function stateOf({ ada, everything, service }: Copied, known: Known): Promise<State> {
  const reads = await readEverything(ada, { everything, known })
  return { reads, tables: await readTables(service.database, ofTheTrash) }
}

function unequalReads([first, second]: readonly [Reads, Reads], blur = (text: string) => text) {
  const text = (reads: Reads, path: string) => blur(JSON.stringify(reads.get(path)))
  const paths = [...first.keys()].filter((path) => text(first, path) !== text(second, path))
  return Object.fromEntries(paths.map((path) => [path, { before: first.get(path), after: second.get(path) }]))
}

// Tables that workers fill again after a restore, with times and numbers of their own. Reads cover them.
const derivedAgain = ['search_documents', 'search_blocks', 'search_languages', 'summary_digests']
// Tables that record what was done, and the public links, which do not come back.
const history = ['events', 'event_floor', 'audit_log', 'tokens', 'public_shares', 'public_share_directory']
// Tables that say when something was last derived from a document.
const extractions = new Set(['relation_extractions', 'concept_extractions'])
// The counts of documents are spread over several rows; the answers of knowledge bases have their sums.
const notCompared = new Set([...derivedAgain, ...history, 'document_counts'])

// Deletions of which the third test restores the like.
const inAnyOrder = new Set(['a translation', 'a document that was edited live', 'a folder in a folder'])
// Deletions of the short run.
const inShort = new Set(['a document with everything', 'a folder with a folder'])

t.test('after a deletion and a restore every read and every row is what it was', async (t) => {
  const { ada, everything, service, checkRestored } = await startNoted(t)
  for (const [name, remove] of Object.entries({ ...ofDocuments, ...ofPlaces })) {
    if (inAnyOrder.has(name) || !(isLong || inShort.has(name))) continue
    ok(await ada.post(`/documents/${everything.documents.elephants}/public-share`))
    await remove(ada, everything)
    const { id } = await onlyEntry(ada)
    const restored = ok(await ada.post(`/trash/${id}/restore`)).data
    await untilDerived(service)
    const isShared = (await ada.post(`/documents/${everything.documents.elephants}/public-share`)).status === 200
    t.strictSame(restored.not_restored, isShared ? [] : ['public_share'], name)
    await checkRestored(name)
  }
  t.strictSame(ok(await ada.get('/trash')).data, [])
})

t.test('what was deleted one after the other comes back whole in any order', async (t) => {
  const { ada, everything, service, checkRestored } = await startNoted(t)
  const { documents, folders } = everything
  const orders = [
    [documents.herd, documents.troupeau, documents.elephants, documents.lakes],
    [documents.lakes, documents.elephants, documents.troupeau, documents.herd],
    [documents.equipage, documents.crew, documents.herde, documents.ships],
  ]
  for (const [round, ids] of orders.slice(0, isLong ? 3 : 1).entries()) {
    for (const id of ids) ok(await ada.delete(`/documents/${id}`))
    const entries: Entry[] = ok(await ada.get('/trash')).data
    const order = round === 1 ? entries : entries.toReversed()
    for (const { id } of order) ok(await ada.post(`/trash/${id}/restore`))
    await untilDerived(service)
    await checkRestored(`round ${round}`)
  }
  // A document goes with its folder, which is deleted with its parent: from the inside to the outside.
  ok(await ada.delete(`/folders/${folders.large}`))
  ok(await ada.delete(`/folders/${folders.mammals}`))
  const [mammals, large]: Entry[] = ok(await ada.get('/trash')).data
  for (const entry of [mammals, large]) ok(await ada.post(`/trash/${entry?.id}/restore`))
  await untilDerived(service)
  await checkRestored('a folder after its parent')
})

// A copy with what workers derive from it. `checkRestored` compares its state with the state that it has now.
async function startNoted(t: Test): Promise<Copied & { checkRestored: (name: string) => Promise<void> }> {
  const copied = await start(t)
  await derive(t, copied)
  const known = await knownPlaces(copied.ada, copied.everything)
  const before = await restorable(copied, known)
  const begun = Date.now()
  const checkRestored = async (name: string) =>
    sameAsBefore(t, [before, await restorable(copied, known)], { name, begun })
  return { ...copied, checkRestored }
}

async function restorable({ ada, everything, service }: Copied, known: Known): Promise<State> {
  const reads = await readEverything(ada, { everything, known })
  return { reads, tables: await readTables(service.database, notCompared) }
}

type Entry = { id: string; type: string; name: string; document_count: number }

async function onlyEntry(ada: Client): Promise<Entry> {
  const { data } = ok(await ada.get('/trash'))
  if (data.length !== 1) throw new Error(`the trash has ${data.length} entries: ${JSON.stringify(data)}`)
  return data[0]
}

// Compares a state with the state before the deletion. A set that outlives a deletion keeps a record of it. A cursor of
// changes may be told to begin anew. Public links do not come back.
function sameAsBefore(t: Test, [before, after]: readonly [State, State], input: { name: string; begun: number }): void {
  const { name, begun } = input
  const isNewRecord = (id: unknown) => /^aud_/.test(String(id)) && decodeTime(String(id).slice(4)) >= begun
  const reads = new Map(
    [...after.reads].map(([path, read]) => {
      if (path === '/public-shares') return [path, before.reads.get(path) ?? read]
      const data = (read.answer as { data?: unknown })?.data
      if (isToBeginAnew(data)) return [path, before.reads.get(path) ?? read]
      if (!Array.isArray(data)) return [path, read]
      const old = data.filter(({ id }) => !isNewRecord(id))
      return [path, { ...read, answer: { ...(read.answer as object), data: old } }]
    }),
  )
  t.strictSame(unequalReads([before.reads, reads]), {}, `${name}: reads`)
  const comparable = (line: string, table: string) => {
    if (table === 'translation_audit' && isNewRecord(JSON.parse(line).id)) return null
    return extractions.has(table) ? line.replace(/"extracted_at": "[^"]*"/, '') : line
  }
  t.strictSame(differences([before.tables, after.tables], comparable), {}, `${name}: tables`)
}

function isToBeginAnew(data: unknown): boolean {
  const { sync_required, freshness } = (data ?? {}) as { sync_required?: boolean; freshness?: string }
  return sync_required === true && freshness === 'current'
}
