import { uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'

/** The resources on which the contract tests call every route: one of each kind, with names that occur nowhere else. */
export type Fixture = {
  knowledgeBaseId: number
  folderId: number
  /** The source of a document set. */
  documentId: string
  documentSetId: string
  /** The French translation of the set, and its locale. */
  translationId: string
  locale: string
  /** A unit of the translation, and a job that no worker ever finishes. */
  unitId: string
  translationJobId: string
  /** A block of the document. */
  blockId: string
  /** A relation from the block to its own document. */
  relationId: string
  conceptId: string
  /** A second concept of the same knowledge base. */
  otherConceptId: string
  candidateId: string
  /** An attachment of the document that no body references. */
  attachmentId: string
  /** The public link of the document. */
  shareId: string
  /** A job about the document. */
  summaryJobId: string
  /** The entry of a deleted document in the trash. */
  trashId: string
  /** The version of the document's body. */
  version: string
  marker: string
}

/** Returns a function for each member of a fixture, which creates the resource and the resources around it once. */
export function makersOf(owner: Client): { [Name in keyof Fixture]: () => Promise<Fixture[Name]> } {
  const marker = `marker${Math.random().toString(36).slice(2)}`
  const base = once(() => created(owner, '/knowledge-bases', { name: marker }))
  const folder = once(async () => created(owner, '/folders', { name: marker, knowledge_base_id: (await base()).id }))
  const document = once(async () => documentOf(owner, { marker, base: await base(), folder: await folder() }))
  const relation = once(async () => relationOf(owner, await document()))
  const translation = once(async () => translationOf(owner, (await document()).id))
  const attachment = once(async () => uploaded(owner, { documentId: (await document()).id, filename: `${marker}.png` }))
  const concept = (name: string) =>
    once(async () => created(owner, '/concepts', { name, knowledge_base_id: (await base()).id }))
  const [first, second] = [concept(marker), concept(`other ${marker}`)]
  return {
    marker: async () => marker,
    knowledgeBaseId: async () => (await base()).id,
    folderId: async () => (await folder()).id,
    documentId: async () => (await document()).id,
    version: async () => (await document()).version,
    blockId: async () => relation().then(async () => (await document()).blockId),
    relationId: relation,
    documentSetId: async () => (await translation()).documentSetId,
    translationId: async () => (await translation()).translationId,
    locale: async () => translation().then(() => 'fr'),
    unitId: async () => (await translation()).unitId,
    translationJobId: async () => (await translation()).translationJobId,
    conceptId: async () => (await first()).id,
    otherConceptId: async () => (await second()).id,
    candidateId: once(async () => {
      const extracted = await owner.post('/concept-candidates/extract', { document_id: (await document()).id })
      return extracted.body.data.candidates[0].id
    }),
    shareId: once(async () => {
      return (await owner.post(`/documents/${(await document()).id}/public-share`)).body.data.share_id
    }),
    attachmentId: attachment,
    summaryJobId: once(async () => {
      const path = `/documents/${(await document()).id}/summary/rebuild`
      return (await owner.post(path, { generator: 'model' })).body.data.id
    }),
    trashId: once(async () => trashOf(owner, { marker, base: await base() })),
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

// A document whose second body makes the first body a version that can be restored.
async function documentOf(owner: Client, place: { marker: string; base: Created; folder: Created }) {
  const { marker, base, folder } = place
  const { id } = await created(owner, '/documents', {
    title: marker,
    knowledge_base_id: base.id,
    folder_id: folder.id,
    tags: ['tag'],
  })
  const body = { format: 'markdown', content: `# ${marker}` }
  const written = await owner.put(`/documents/${id}/content`, body, { 'if-match': '*' })
  if (written.status !== 200) throw new Error(`PUT content answered ${written.status}: ${written.text}`)
  const blockId: string = written.body.data.document.content[0].attrs.id
  return { id, version: written.body.data.version as string, blockId }
}

async function relationOf(owner: Client, { id, blockId }: { id: string; blockId: string }): Promise<string> {
  const ends = { source_document_id: id, source_block_id: blockId, target_uri: `svc://doc/${id}` }
  return (await created(owner, '/relations', { ...ends, predicate: 'supports' })).id
}

async function translationOf(owner: Client, documentId: string) {
  const activation = { source_locale: 'en', target_locales: ['fr'], create_mode: 'copy_structure' }
  const { data } = (await owner.post(`/documents/${documentId}/translation/activate`, activation)).body
  const units = await owner.get(`/documents/${documentId}/translation-units?locale=fr`)
  const job = await owner.post(`/documents/${documentId}/translation-jobs`, { target_locale: 'fr' })
  return {
    documentSetId: data.id as string,
    translationId: data.variants[1].id as string,
    unitId: units.body.data[0].id as string,
    translationJobId: job.body.data.id as string,
  }
}

async function trashOf(owner: Client, { marker, base }: { marker: string; base: Created }): Promise<string> {
  const deleted = await created(owner, '/documents', { title: `deleted ${marker}`, knowledge_base_id: base.id })
  await owner.delete(`/documents/${deleted.id}`)
  return (await owner.get(`/trash?knowledge_base_id=${base.id}`)).body.data[0].id
}

type Created = { id: never }

async function created(owner: Client, path: string, body: object): Promise<Created> {
  const reply = await owner.post(path, body)
  if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}
