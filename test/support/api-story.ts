import { routes } from '../../api/routes/routes.ts'
import { form, samples } from './attachments.ts'
import type { Client, Reply } from './client.ts'
import { until } from './site.ts'
import { untilFresh } from './workers.ts'

/** One call of the story: its request and its answer. */
export type ToldCall = {
  operationId: string
  /** Path and query below `/api/v1`. */
  path: string
  if_match?: string
  request?: unknown
  status: number
  answer?: unknown
}

type Call = {
  path?: Record<string, string | number>
  query?: Record<string, string | number | boolean>
  body?: unknown
  etag?: string | null
  file?: { filename: string; type: string; bytes: Buffer }
}

/**
 * Plays a realistic day of a knowledge base, with a call of every operation that answers in JSON. The client's
 * workspace must be empty, and workers of all types must run. Throws when a call does not succeed.
 */
export async function tellStory(
  client: Client,
  device: { client: Client; approve: (userCode: string) => Promise<unknown> },
): Promise<ToldCall[]> {
  const told: ToldCall[] = []

  // Sends a call, and keeps the first call of each operation and status.
  async function call(operationId: string, options: Call = {}, through = client): Promise<Reply> {
    const { path, ifMatch, reply } = await sent(through, operationId, options)
    if (reply.status >= 300) throw new Error(`${operationId} answered ${reply.status}: ${reply.text}`)
    const isKnown = told.some((other) => other.operationId === operationId && other.status === reply.status)
    const request = options.body === undefined ? {} : { request: options.body }
    const answer = reply.body === undefined ? {} : { answer: reply.body }
    const guard = ifMatch === undefined ? {} : { if_match: ifMatch }
    if (!isKnown) told.push({ operationId, path, ...guard, ...request, status: reply.status, ...answer })
    return reply
  }

  const untilSucceeded: UntilSucceeded = (operationId, path) =>
    until(async () => (await send(client, operationId, { path })).body.data.status === 'succeeded')

  await call('getMe')
  const scopes = ['documents:read', 'documents:write']
  const codes = await call('requestDeviceCode', { body: { client_name: 'Field notes', scopes } }, device.client)
  await device.approve(codes.body.data.user_code)
  const granted = await call(
    'exchangeDeviceCode',
    { body: { device_code: codes.body.data.device_code } },
    device.client,
  )
  await call('revokeToken', { body: { token: granted.body.data.access_token } }, device.client)

  const base = (await call('createKnowledgeBase', { body: { name: 'Zoo' } })).body.data.id as number
  const other = (await call('createKnowledgeBase', { body: { name: 'Archive' } })).body.data.id as number
  await call('renameKnowledgeBase', { path: { id: base }, body: { name: 'City zoo' } })
  await call('getKnowledgeBase', { path: { id: base } })
  await call('listKnowledgeBases')
  const folder = (await call('createFolder', { body: { name: 'Mammals', knowledge_base_id: base } })).body.data.id
  const spare = (await call('createFolder', { body: { name: 'Drafts', knowledge_base_id: other } })).body.data.id
  await call('updateFolder', { path: { id: folder }, body: { name: 'Large mammals', position: 'last' } })
  await call('getFolder', { path: { id: folder } })

  const about = {
    title: 'Elephants',
    folder_id: folder,
    content: { format: 'markdown', content: '# Water\n\nAn elephant drinks **a hundred litres** a day.' },
  }
  const elephants = (await call('createDocument', { body: about })).body.data
  const document = { id: elephants.id as string }
  const lakes = await call('createDocument', { body: { title: 'Lakes', knowledge_base_id: base } })
  const lake = lakes.body.data.id as string
  const image = { filename: 'herd.png', type: 'image/png', bytes: samples.png }
  const attachment = await call('createAttachment', { body: { document_id: document.id }, file: image })
  await call('listAttachments', { query: { knowledge_base_id: base, referenced: false } })
  await call('listAudit', { query: { document_id: document.id, limit: 2 } })
  await call('getAttachmentMetadata', { path: { id: attachment.body.data.id } })
  const metadata = { tags: ['Mammals', 'draft'], properties_patch: { owner: 'Ada', weight: 6000 } }
  await call('updateDocument', { path: document, body: { heading_numbered: true, position: 'first', ...metadata } })
  await call('getDocument', { path: document })
  await call('getDocumentPath', { path: document })
  await call('listDocuments', { query: { knowledge_base_id: base, limit: 10 } })
  await call('listFolderChildren', { path: { id: folder } })
  await call('listTags', { path: { id: base } })
  await call('renameTag', { path: { id: base, tag: 'mammals' }, body: { tag: 'Animals' } })
  await call('deleteTag', { path: { id: base, tag: 'draft' } })
  await call('getTree', { path: { id: base } })
  await call('getQuota')

  const content = `# Water\n\nAn elephant drinks **a hundred litres** a day, often at [the lake](svc://doc/${lake}).`
  const put = await call('replaceContent', {
    path: document,
    body: { format: 'markdown', content },
    etag: elephants.version,
  })
  const [heading, paragraph] = put.body.data.document.content.map(({ attrs }: { attrs: { id: string } }) => attrs.id)
  await call('getContent', { path: document })
  await call('getOutline', { path: document })
  await call('readDocument', { path: document, query: { view: 'markdown', max_tokens: 1000 } })
  const added = { type: 'paragraph', content: [{ type: 'text', text: 'A calf drinks eleven litres of milk.' }] }
  const inserted = await call('insertBlocks', {
    path: document,
    body: { position: { after_block_id: paragraph }, nodes: [added] },
  })
  const calf = inserted.body.data.block_ids[0] as string
  const words = [{ type: 'text', text: 'A calf drinks up to eleven litres of milk a day.' }]
  const patched = await call('updateBlock', { path: { ...document, blockId: calf }, body: { content: words } })
  await call('getBlock', { path: { ...document, blockId: calf } })
  await call('listBlocks', { path: document })
  const note = {
    type: 'callout',
    attrs: { kind: 'note' },
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Measured in 2025.' }] }],
  }
  const replaced = { type: 'heading', attrs: { level: 1 }, content: [{ type: 'text', text: 'Water and milk' }] }
  const batch = await call('batchBlocks', {
    path: document,
    body: {
      base_version: patched.body.data.version,
      operations: [
        { op: 'replace', block_id: heading, node: replaced },
        { op: 'insert', position: { document_end: true }, nodes: [note] },
      ],
    },
  })
  await call('editContent', {
    path: document,
    body: {
      edits: [
        { op: 'replace', find: 'up to eleven litres', replace: 'eleven litres' },
        { op: 'append', markdown: 'Calves drink milk for *two years*.', section: heading },
      ],
    },
  })
  const callout = batch.body.data.results[1].block_ids[0] as string
  const deleted = await call('deleteBlock', { path: { ...document, blockId: callout } })
  await call('listVersions', { path: document })
  await call('getVersionContent', { path: { ...document, seq: 4 }, query: { format: 'markdown' } })
  await call('getDiff', { path: document, query: { from: 3, to: 4 } })
  await until(async () => (await send(client, 'listChanges', { path: document })).body.data.freshness === 'current')
  const changes = await send(client, 'listChanges', { path: document })
  await call('rollbackDocument', { path: { ...document, seq: 4 }, etag: deleted.body.data.version })
  await until(async () => {
    const query = { after: changes.body.data.cursor }
    const { body } = await send(client, 'listChanges', { path: document, query })
    return body.data.freshness === 'current' && body.data.changes.length > 0
  })
  await call('listChanges', { path: document, query: { after: changes.body.data.cursor } })
  const share = await call('ensurePublicShare', { path: document, body: { expires_at: 4_102_444_800_000 } })
  await call('ensurePublicShare', { path: document })
  await call('listPublicShares', { query: { knowledge_base_id: base } })
  const shareId = share.body.data.share_id
  await call('updatePublicShare', { path: { id: shareId }, body: { expires_at: null, password: 'trunk and tusk' } })
  await call('deletePublicShare', { path: { id: shareId } })

  await untilFresh(client)
  const operators = { syntax: 'operators', highlight: true } as const
  await call('search', { query: { q: 'litr* -milk', knowledge_base_id: base, ...operators } })
  const waiting = { typing: 'true', highlight: true, wait_ms: 5000 } as const
  await call('searchV2', { query: { q: 'hundred lit', knowledge_base_id: base, ...waiting } })

  const relation = await call('createRelation', {
    body: {
      source_document_id: document.id,
      source_block_id: paragraph,
      target_uri: `svc://doc/${lake}`,
      predicate: 'depends_on',
      anchor_text: 'the lake',
    },
  })
  await until(async () => {
    const { body } = await send(client, 'listRelations', { path: document })
    return (
      body.data.length === 2 &&
      body.data.every((row: { projection_freshness: string }) => row.projection_freshness === 'current')
    )
  })
  await call('listRelationTypes')
  await call('listRelations', { path: document })
  await call('readDocuments', { body: { ids: [document.id, 'doc_gone'], view: 'markdown', max_tokens: 2000 } })
  await call('deleteRelation', { path: { id: relation.body.data.id } })

  await tellConcepts(call, { base, documentId: document.id, blockId: paragraph })
  await tellSummaries(call, untilSucceeded, { base, folder, documentId: document.id })
  await tellTranslations(call, untilSucceeded, { documentId: document.id })

  await call('deleteAttachment', { path: { id: attachment.body.data.id } })
  const rivers = await call('createDocument', { body: { title: 'Rivers', knowledge_base_id: base } })
  await call('duplicateDocument', { path: document, body: { title: 'Elephants in winter', knowledge_base_id: other } })
  await call('moveDocuments', { body: { ids: [lake, rivers.body.data.id], folder_id: folder } })
  await call('deleteDocuments', { body: { ids: [rivers.body.data.id] } })
  await call('deleteDocument', { path: { id: lake } })
  const trash = await call('listTrash', { query: { knowledge_base_id: base } })
  await call('restoreFromTrash', { path: { id: trash.body.data[0].id }, body: { folder_id: folder } })
  await send(client, 'deleteDocument', { path: { id: lake } })
  const again = await send(client, 'listTrash', {})
  await call('purgeFromTrash', { path: { id: again.body.data[0].id } })
  await call('deleteFolder', { path: { id: spare } })
  await call('deleteKnowledgeBase', { path: { id: other }, body: { confirm_id: String(other) } })
  return told
}

type Teller = (operationId: string, options?: Call) => Promise<Reply>

type UntilSucceeded = (operationId: string, path: { id: string }) => Promise<void>

async function tellConcepts(call: Teller, at: { base: number; documentId: string; blockId: string }): Promise<void> {
  const water = await call('createConcept', {
    body: {
      knowledge_base_id: at.base,
      name: 'Drinking water',
      description: 'Water that animals drink.',
      aliases: ['Potable water'],
      labels: [{ locale: 'de', name: 'Trinkwasser' }],
    },
  })
  const id = water.body.data.id as string
  const liquid = (await call('createConcept', { body: { knowledge_base_id: at.base, name: 'Liquid' } })).body.data
  const twin = (await call('createConcept', { body: { knowledge_base_id: at.base, name: 'Fresh water' } })).body.data
  const updated = await call('updateConcept', {
    path: { id },
    body: { description: 'Water that an animal can drink.' },
    etag: water.body.data.version,
  })
  const source = { document_id: at.documentId, block_id: at.blockId, excerpt: 'An elephant drinks a hundred litres' }
  const evidence = await call('addConceptSource', { path: { id }, body: source, etag: updated.body.data.version })
  const related = await call('addConceptRelation', {
    path: { id },
    body: { predicate: 'related_to', object: { kind: 'concept', id: liquid.id } },
    etag: evidence.body.data.version,
  })
  await call('mergeConcept', {
    path: { id: twin.id },
    body: { target_concept_id: id, target_version: related.body.data.version, reason: 'The same thing.' },
    etag: twin.version,
  })
  await call('getConcept', { path: { id } })
  await call('listConcepts', { query: { knowledge_base_id: at.base } })
  await call('traverseConcept', { path: { id } })
  const extracted = await call('extractConceptCandidates', { body: { document_id: at.documentId } })
  await call('listConceptCandidates', { query: { knowledge_base_id: at.base } })
  const [first, second] = extracted.body.data.candidates
  await call('acceptConceptCandidate', { path: { id: first.id }, body: {}, etag: first.version })
  const reason = { reason: 'Too general.' }
  await call('rejectConceptCandidate', { path: { id: second.id }, body: reason, etag: second.version })
}

async function tellSummaries(
  call: Teller,
  untilSucceeded: UntilSucceeded,
  at: { base: number; folder: number; documentId: string },
): Promise<void> {
  const targets = [
    ['Document', { id: at.documentId }, 'How much elephants drink.'],
    ['Folder', { id: at.folder }, 'Large mammals and what they need.'],
    ['KnowledgeBase', { id: at.base }, 'The animals of the city zoo.'],
  ] as const
  for (const [noun, path, text] of targets) {
    const { current_source_version, summary_version } = (await call(`get${noun}Summary`, { path })).body.data
    const body = { text, base_source_version: current_source_version }
    const put = await call(`put${noun}Summary`, { path, body, etag: `summary:${summary_version}` })
    const etag = `summary:${put.body.data.summary_version}`
    const model = await call(`rebuild${noun}Summary`, { path, body: { generator: 'model' }, etag })
    const job = { id: model.body.data.id as string }
    await untilSucceeded('getSummaryJob', job)
    await call('getSummaryJob', { path: job })
    const current = await call(`get${noun}Summary`, { path })
    const next = `summary:${current.body.data.summary_version}`
    await call(`rebuild${noun}Summary`, { path, body: { generator: 'deterministic' }, etag: next })
  }
}

async function tellTranslations(
  call: Teller,
  untilSucceeded: UntilSucceeded,
  at: { documentId: string },
): Promise<void> {
  const path = { id: at.documentId }
  const body = { source_locale: 'en', target_locales: ['fr'], create_mode: 'copy_structure' }
  const set = (await call('activateTranslation', { path, body })).body.data
  const french = set.variants[1].id as string
  await call('getDocumentSet', { path: { id: set.id } })
  const german = (await call('addTranslation', { path, body: { locale: 'de', create_mode: 'blank' } })).body.data.id
  await call('listTranslations', { path })
  const states = { workflow_status: 'in_review' }
  await call('updateTranslation', { path: { ...path, targetDocId: french }, body: states })
  await call('prepareTranslation', { path: { ...path, targetDocId: french }, body: { align: 'by_position' } })
  const units = await call('listTranslationUnits', { path, query: { locale: 'fr' } })
  const job = (await call('createTranslationJob', { path, body: { target_locale: 'fr' } })).body.data
  await untilSucceeded('getTranslationJob', { id: job.id })
  await call('getTranslationJob', { path: { id: job.id } })
  const applied = await call('applyTranslationJob', { path: { id: job.id }, body: {}, etag: job.target_version })
  await call('reviewTranslationUnit', {
    path: { ...path, unitId: units.body.data[0].id },
    body: { target_document_id: french, review_status: 'current' },
    etag: applied.body.data.version,
  })
  await call('listTranslationAudit', { path })
  await call('deleteTranslation', { path: { ...path, targetDocId: german } })
  await call('deleteTranslation', { path: { ...path, targetDocId: french } })
  await call('deactivateTranslation', { path })
}

async function send(client: Client, operationId: string, options: Call): Promise<Reply> {
  return (await sent(client, operationId, options)).reply
}

type Sent = { path: string; ifMatch: string | undefined; reply: Reply }

async function sent(client: Client, operationId: string, options: Call): Promise<Sent> {
  const spec = routes.find((candidate) => candidate.operationId === operationId)
  if (spec === undefined) throw new Error(`there is no operation ${operationId}`)
  const named = spec.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(options.path?.[name]))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options.query ?? {})) query.set(name, String(value))
  const path = query.size === 0 ? named : `${named}?${query}`
  const ifMatch = options.etag == null ? undefined : `"${options.etag}"`
  const headers: Record<string, string> = ifMatch === undefined ? {} : { 'if-match': ifMatch }
  if (options.file === undefined) {
    return { path, ifMatch, reply: await client.call(spec.method, path, { body: options.body, headers }) }
  }
  const fields = Object.entries(options.body as Record<string, string>).map(([name, bytes]) => ({ name, bytes }))
  const { raw, headers: typed } = form([...fields, { name: 'file', ...options.file }])
  return { path, ifMatch, reply: await client.call(spec.method, path, { raw, headers: { ...headers, ...typed } }) }
}
