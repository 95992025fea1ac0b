import { posix } from 'node:path'
import type { ReadBody } from './answers.ts'
import { readAlike, withoutRepeatedAnchors } from './blocks.ts'
import { isSameBody, mergeDocument, type WholeDocument } from './document-merge.ts'
import { bodyOf, keptOfNewFile, readFileText, withLineEndsOf, writeFileText } from './file-text.ts'
import type { FolderIds } from './folder-ids.ts'
import { areSameLabels } from './labels.ts'
import { type FileLinks, type LinkPlaces, linksToFile, linksToService, noLinks } from './links.ts'
import { readLocal } from './local-scan.ts'
import { FileChanged, type LocalWriter } from './local-write.ts'
import { directoryOf, idInPath, inDirectory, titleOfPath } from './paths.ts'
import { type Action, type Creation, isSameDocument, type Restoration, type Update } from './plan.ts'
import type { DocumentChange, SyncService } from './service.ts'
import type { Entry, RemoteDocument } from './sides.ts'
import type { SyncState } from './state.ts'

/** What actions work with. `folders` finds and makes the folders of directories, `places` tells where links lead. */
export type Work = {
  root: string
  state: SyncState
  service: SyncService
  writer: LocalWriter
  folders: FolderIds
  places: LinkPlaces
}

/**
 * A conflict: the version of the service stays in the file, and the own version is in the copy beside it. `losses` says
 * what of the own version the service cannot keep.
 */
export type Conflict = {
  path: string
  copy: string
  document_id: string
  blocks: string[]
  labels: string[]
  losses: string[]
}

/** What the service cannot keep of a file. The file has it still. */
export type Loss = { path: string; document_id: string; losses: string[] }

/** How an action ended. */
export type Outcome = {
  /** `later`: a side has changed meanwhile, and the next round looks again. */
  end: 'done' | 'later'
  /** Why the action ended with `later`, if the disk was in the way. */
  reason?: string
  conflict?: Conflict
  loss?: Loss
  /** The document as the action has left it, or null if it is gone; absent if it is not known. */
  document?: RemoteDocument | null
}

const later: Outcome = { end: 'later' }
// How often a merge begins anew because somebody else has just written the document.
const mostAttempts = 5

/**
 * Carries out one action. Every write is guarded: by the version of the body in the service, by the hash of the file on
 * the disk. The state is noted last, so an action that is killed is planned again, and what it has done is found done.
 */
export async function applyAction(work: Work, action: Action): Promise<Outcome> {
  const { state, service, writer } = work
  try {
    if (action.type === 'create') return await create(work, action)
    if (action.type === 'restore') return await restore(work, action)
    if (action.type === 'update') return await update(work, action)
    if (action.type === 'download') return await download(work, action)
    if (action.type === 'trash' && !(await service.trash(action.id, action.version))) return later
    if (action.type === 'remove') writer.remove(action.path, { hash: action.file.hash, id: action.id })
    const entry = state.entries.get(action.id)
    if (entry !== undefined) state.note({ gone: { ...entry, goneAt: Date.now() } })
    return { end: 'done', document: null }
  } catch (error) {
    if (isMissing(error)) return { ...later, reason: error.message }
    throw error
  }
}

// A file or directory that is gone or in the way, since somebody works in the folder meanwhile.
const missingCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EEXIST'])

function isMissing(error: unknown): error is Error {
  return error instanceof FileChanged || missingCodes.has((error as NodeJS.ErrnoException).code ?? '')
}

async function create({ root, state, service, writer, folders, places }: Work, { path, file, id, copyOf }: Creation) {
  const { text, hash } = readLocal(root, path)
  if (hash !== file.hash) return later
  const linked = await linksToService(text, { path, before: path, ...noLinks }, places)
  const parts = readFileText(linked, keptOfNewFile)
  const sent = withoutRepeatedAnchors(bodyOf(parts))
  const created = await service.create({
    id,
    title: parts.title ?? titleOfPath(path),
    tags: parts.tags,
    properties: parts.properties,
    folderId: () => folders.idOf(directoryOf(path)),
    markdown: sent,
  })
  const body = created === null ? null : await service.body(id)
  if (created === null || body === null) {
    // An id that was used before is either the document of a killed sync, which the next listing shows, or lost.
    if ((await service.document(id)) === null) state.note({ created: path })
    return later
  }
  const document = { ...created.document, version: body.version }
  const kept = state.keepText(body.markdown)
  // A copy of another document's file would be taken for that file, so it gets the text of its own document.
  const isCopy = file.documentId !== null || idInPath(path) !== null
  const whole = isCopy ? writeFileText(document, { body: body.markdown, path }) : linked
  const { text: linkedText, ...links } = await linksToFile(whole, { path, present: text, mayWait: true }, places)
  const entry = { id, path, hash, stat: file.stat, document, body: kept, copyOf, ...links }
  // If the file has changed meanwhile, the noted hash is that of the text which the service has.
  const written = isCopy
    ? await writer.write(path, withLineEndsOf(text, linkedText), { hash, id }).catch(ifChanged)
    : {}
  state.note({ entry: { ...entry, ...written } })
  state.note({ created: path })
  return {
    ...(written === null ? later : { end: 'done' as const }),
    ...lossOf({ path, document_id: id, losses: created.losses }),
    document,
  }
}

function ifChanged(error: unknown): null {
  if (error instanceof FileChanged) return null
  throw error
}

function lossOf(loss: Loss): { loss?: Loss } {
  return loss.losses.length > 0 ? { loss } : {}
}

// Keeps the text of a file of which the service cannot keep everything, before the file gets the text of the service.
async function keepLost(
  writer: LocalWriter,
  lost: { path: string; text: string; document_id: string; losses: string[] },
) {
  const { text, ...conflict } = lost
  if (lost.losses.length === 0) return {}
  return { conflict: { ...conflict, copy: await writer.keepCopy(lost.path, text), blocks: [], labels: [] } }
}

// The document is again what the last sync has left. What its file says now is for the next round.
async function restore({ state, service, folders }: Work, { id, path, entry }: Restoration): Promise<Outcome> {
  const document = await service.restore(id, await folders.idOf(directoryOf(path)))
  if (document === null) {
    state.note({ forgetGone: id })
    return later
  }
  const { folder_id } = document
  const before = inDirectory(directoryOf(path), posix.basename(entry.path))
  state.note({ entry: { ...entry, path: before, document: { ...entry.document, folder_id } } })
  return { end: 'done', document }
}

async function download(
  { state, service, writer, places }: Work,
  { id, path, document: listed }: Action & { type: 'download' },
) {
  const body = await service.body(id)
  if (body === null) return later
  const document = { ...listed, version: body.version }
  const { text, ...links } = await linksToFile(writeFileText(document, { body: body.markdown, path }), { path }, places)
  const { hash, stat } = await writer.write(path, text, null)
  state.note({ entry: { id, path, hash, stat, document, body: state.keepText(body.markdown), ...links } })
  return { end: 'done' as const, document }
}

async function update(work: Work, action: Update): Promise<Outcome> {
  const { root, state, service, writer, places } = work
  const { id, from, path, file } = action
  const { text, hash } = readLocal(root, from)
  if (hash !== file.hash) return later
  const entry = await entryAfterKill(work, action)
  const { links, headings }: FileLinks = entry ?? noLinks
  const inService = (markdown: string) =>
    linksToService(markdown, { path: from, before: entry?.path ?? from, links, headings }, places)
  // A file that nobody has changed says what the last sync has left, even if it spells that in another way.
  const isUnchanged = hash === entry?.hash
  // Addresses that the service has as they are become links there when their headings are there.
  const hasWaiting = Object.values(headings).includes('')
  const linked = await inService(text)
  let outcome: Outcome = { end: 'done' }
  let listed: RemoteDocument | null = action.document
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const sides = listed && (await sidesOf(work, { action: { ...action, entry }, listed, inService }))
    if (sides === null) return { end: 'later', document: null }
    const { base, theirs } = sides
    // Without changes of others, the service gets what the file has.
    const isAlone = entry !== null && base !== null && isSameDocument(entry, theirs.document)
    const known = isUnchanged && base !== null && !isAlone ? writeFileText(base.document, base) : linked
    let losses: string[] = []
    const rehearse = async (markdown: string) => {
      const read = await service.rehearse(id, markdown)
      losses = read.losses
      return read.markdown
    }
    const merge = await mergeDocument({
      base,
      mine: { text: known, path: from },
      theirs,
      isCreated: action.isCreated,
      rehearse,
    })
    if (merge.copy !== null) {
      const { text: copied } = await linksToFile(merge.copy, { path: from, present: text }, places)
      const copy = await writer.keepCopy(from, withLineEndsOf(text, copied))
      const [blocks, labels] = [merge.conflicts.map(({ block_id }) => block_id), merge.labels.conflicts]
      outcome = { ...outcome, conflict: { path, copy, document_id: id, blocks, labels, losses } }
    }
    if (isAlone && path === from) {
      const { title, tags, properties } = merge.labels
      state.note({ writing: { id, hash, body: state.keepText(merge.body), labels: { title, tags, properties } } })
    }
    const document = await writeLabels(work, { action, labels: merge.labels, theirs: theirs.document })
    if (document === null) return { ...outcome, end: 'later', document: null }
    if (document === 'changed') {
      listed = await service.document(id)
      continue
    }
    const written = await writeBody(service, {
      id,
      body: merge.body,
      theirs,
      stored: hasWaiting ? sides.stored : theirs.body,
    })
    if (written !== null) {
      const lost = { path: from, document_id: id, losses: [...losses, ...written.losses] }
      if (merge.isMine) outcome = { ...lossOf(lost), ...outcome }
      else {
        if (!readAlike(known, linked)) lost.losses.push(...(await service.rehearse(id, linked)).losses)
        outcome = { ...(await keepLost(writer, { ...lost, text })), ...outcome }
      }
      const done = { ...document, version: written.version }
      return finish(done, { body: written.markdown, isAlone, isMine: merge.isMine })
    }
    listed = await service.document(id)
  }
  return { ...outcome, end: 'later' }

  // `isAlone` says that nobody else has changed the document since the last sync. `isMine` says that the file has what
  // the document has. Then it keeps its text, apart from links.
  async function finish(
    document: RemoteDocument,
    { body, isAlone, isMine }: { body: string; isAlone: boolean; isMine: boolean },
  ): Promise<Outcome> {
    const kept = state.keepText(body)
    try {
      if (path !== from) writer.move(from, path, hash)
      const mayWait = action.changes.file || hasWaiting
      const whole = isMine ? linked : writeFileText(document, { body, path })
      const { text: linkedText, ...written } = await linksToFile(whole, { path, present: text, mayWait }, places)
      const newText = isMine ? linkedText : withLineEndsOf(text, linkedText)
      const found = newText === text ? { hash, stat: file.stat } : await writer.write(path, newText, { hash, id })
      state.note({ entry: { id, path, ...found, document, body: kept, ...written } })
      state.note({ created: from })
      return { ...outcome, document }
    } catch (error) {
      if (!isMissing(error)) throw error
      // The service has the text that the file had, so what the file has now is a change of that text. Without this
      // entry, the next round would take the own text for a change of others.
      if (isAlone && path === from)
        state.note({ entry: { id, path, hash, stat: file.stat, document, body: kept, links, headings } })
      return { ...outcome, end: 'later', reason: error.message, document }
    }
  }
}

// What is known of the last sync. A killed sync may have written a document without noting it. If the service has what
// was written, or had it before others went on, that is the common state. Otherwise text that is edited after the kill
// would stand twice in the result.
async function entryAfterKill({ state, service }: Work, { id, entry, document }: Update): Promise<Entry | null> {
  const begun = state.writing.get(id)
  const text = begun === undefined ? null : state.text(begun.body)
  if (entry === null || begun === undefined || text === null) return entry
  if (!areSameLabels(document, begun.labels) || document.folder_id !== entry.document.folder_id) return entry
  const rehearsed = await service.rehearse(id, text)
  for await (const { version, markdown } of service.bodiesSince(id, entry.document.version)) {
    if (!readAlike(text, markdown) && !readAlike(rehearsed.markdown, markdown)) continue
    const reached = { ...entry, hash: begun.hash, document: { ...document, version }, body: state.keepText(markdown) }
    state.note({ entry: reached })
    return reached
  }
  return entry
}

type SidesAsked = { action: Update; listed: RemoteDocument; inService: (markdown: string) => Promise<string> }

// The base and the present document, and its body as it is stored. The body of an unchanged document is that of the
// base, so it need not be read.
// Somebody may have put a relative address into a document. That is no change, so all sides are translated.
async function sidesOf({ state, service }: Work, { action, listed, inService }: SidesAsked) {
  const { id, from, entry } = action
  const known = entry === null ? null : state.text(entry.body)
  const base: WholeDocument | null =
    entry === null || known === null
      ? null
      : { document: entry.document, body: await inService(known), path: entry.path }
  const isUnchanged = base !== null && base.document.version === listed.version
  const body = isUnchanged ? null : await service.body(id)
  if (body === null && !isUnchanged) return null
  const document = { ...listed, version: body?.version ?? listed.version }
  const markdown = body === null ? (base?.body ?? '') : await inService(body.markdown)
  const stored = body?.markdown ?? known ?? ''
  return { base, theirs: { document, body: markdown, path: entry?.path ?? from }, stored }
}

type LabelWrite = {
  action: Update
  labels: Awaited<ReturnType<typeof mergeDocument>>['labels']
  theirs: RemoteDocument
}

// Writes title, tags, properties and folder if they differ. Returns null if the document is gone. Returns `changed` if
// somebody has changed them since the document was listed, so that the merge has to begin anew.
async function writeLabels({ service, folders }: Work, { action, labels, theirs }: LabelWrite) {
  const folderId = await folders.idOf(directoryOf(action.path))
  const { title, tags, properties } = labels
  const change: DocumentChange = {
    ...(title !== theirs.title && { title }),
    ...(!areSameLabels({ ...theirs, tags }, theirs) && { tags }),
    ...(!areSameLabels({ ...theirs, properties }, theirs) && { properties }),
    ...(folderId !== theirs.folder_id && { folder_id: folderId }),
  }
  if (Object.keys(change).length === 0) return theirs
  const now = await service.document(theirs.id)
  if (now === null) return null
  const isSame = areSameLabels(now, theirs) && now.folder_id === theirs.folder_id
  return isSame ? service.change(theirs, change) : 'changed'
}

// Returns the body as the service has it now; null if the document was changed meanwhile or is gone. A body that is
// `stored` already is not written.
async function writeBody(
  service: SyncService,
  { id, body, theirs, stored }: { id: string; body: string; theirs: WholeDocument; stored: string },
): Promise<ReadBody | null> {
  const { version } = theirs.document
  if (isSameBody(body, stored)) return { markdown: theirs.body, version, losses: [] }
  return service.replace(id, { markdown: body, version })
}
