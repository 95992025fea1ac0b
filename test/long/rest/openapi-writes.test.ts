import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { describeApi } from '../../../api/docs/openapi.ts'
import { routes } from '../../../api/routes/routes.ts'
import { t } from '../../support/tap.ts'
import { typeErrors } from '../../support/type-errors.ts'

t.test('a typed client writes everything that can be written, without a cast', async (t) => {
  const schema = astToString(await openapiTS(describeApi({ routes, origin: 'https://acme.test' }) as never))
  const directory = t.testdir({ 'schema.ts': schema, 'program.ts': program })
  t.same(typeErrors([join(directory, 'program.ts')]), [[]])
  for (const { method, path, listed } of routes) {
    if (method === 'GET' || listed === 'reference') continue
    t.ok(program.includes(`client.${method}('${path}'`), `${method} ${path} is among the writes`)
  }
})

t.test('a typed client is told at once of a node, mark, position or operation that does not exist', async (t) => {
  const schema = astToString(await openapiTS(describeApi({ routes, origin: 'https://acme.test' }) as never))
  const wrong = [
    ['node', "const x: Node = { type: 'paragraf' }"],
    ['attribute', "const x: Node = { type: 'heading', attrs: { level: '2' } }"],
    ['missing attribute', "const x: Node = { type: 'blockMath' }"],
    ['mark', "const x: Node = { type: 'text', text: 'a', marks: [{ type: 'blink' }] }"],
    ['child', "const x: Node = { type: 'paragraph', content: [{ type: 'txt' }] }"],
    ['operation', "const x: Schemas['BatchOperation'] = { op: 'move', block_id: 'b' }"],
    ['member of an operation', "const x: Schemas['BatchOperation'] = { op: 'delete', blockId: 'b' }"],
    ['format', "const x: Schemas['ContentInput'] = { format: 'html', content: '' }"],
    ['payload of a format', "const x: Schemas['ContentInput'] = { format: 'tiptap-json', content: '' }"],
  ] as const
  const directory = t.testdir({
    'schema.ts': schema,
    ...Object.fromEntries(
      wrong.map(([, line], index) => [`wrong-${index}.ts`, `${types}\n${line}\nexport default x\n`]),
    ),
  })
  const errors = typeErrors(wrong.map((_, index) => join(directory, `wrong-${index}.ts`)))
  for (const [index, [what]] of wrong.entries()) t.ok((errors[index]?.length ?? 0) > 0, what)
})

const types = `
import type { components } from './schema.ts'
type Schemas = components['schemas']
type Node = Schemas['TiptapNodeInput']
`

const program = `
import createClient from 'openapi-fetch'
import type { paths } from './schema.ts'
${types}
const client = createClient<paths>({ baseUrl: 'https://acme.test/api/v1' })
const version = 'sha256:' + '0'.repeat(64)
const blockId = 'block_01ARZ3NDEKTSV4RRFFQ69G5FAV'
const guard = { header: { 'If-Match': '"' + version + '"' } }
const document = { path: { id: 'doc_1' } }

const text: Node = { type: 'text', text: 'Water', marks: [{ type: 'bold' }, { type: 'link', attrs: { href: 'https://acme.test' } }] }
const paragraph: Node = { type: 'paragraph', content: [text, { type: 'hardBreak' }, { type: 'mention', attrs: { id: 'usr_1', label: null } }] }
const heading: Node = { type: 'heading', attrs: { id: blockId, level: 2, textAlign: null }, content: [text] }
const table: Node = {
  type: 'table',
  content: [{ type: 'tableRow', content: [{ type: 'tableCell', attrs: { colspan: 1, colwidth: [80] }, content: [paragraph] }] }],
}
const others: Node[] = [
  { type: 'codeBlock', attrs: { language: 'ts' }, content: [{ type: 'text', text: 'let x' }] },
  { type: 'taskList', content: [{ type: 'taskItem', attrs: { checked: true }, content: [paragraph] }] },
  { type: 'callout', attrs: { kind: 'tip' }, content: [paragraph] },
  { type: 'image', attrs: { attachmentId: 'att_1', alt: 'A lake' } },
  { type: 'blockMath', attrs: { latex: 'x^2' } },
]

export async function writeEverything() {
  await client.POST('/auth/device/code', { body: { client_name: 'A tool', scopes: ['documents:read'] } })
  await client.POST('/auth/device/token', { body: { device_code: 'x' } })
  await client.POST('/auth/revoke', { body: { token: 'x' } })

  await client.POST('/knowledge-bases', { body: { name: 'Zoo' }, params: { header: { 'Idempotency-Key': 'once' } } })
  await client.PATCH('/knowledge-bases/{id}', { params: { path: { id: 12 } }, body: { name: 'Park' } })
  await client.DELETE('/knowledge-bases/{id}', { params: { path: { id: 12 } }, body: { confirm_id: '12' } })
  const tagged = { path: { id: 12, tag: 'Mammals' } }
  await client.PATCH('/knowledge-bases/{id}/tags/{tag}', { params: tagged, body: { tag: 'Animals' } })
  await client.DELETE('/knowledge-bases/{id}/tags/{tag}', { params: tagged })
  await client.POST('/folders', { body: { name: 'Guides', knowledge_base_id: 12, parent_id: null } })
  await client.PATCH('/folders/{id}', { params: { path: { id: 40 } }, body: { parent_id: null } })
  await client.DELETE('/folders/{id}', { params: { path: { id: 40 } } })

  await client.POST('/documents', {
    body: { title: 'Elephants', folder_id: 40, content: { format: 'markdown', content: '# Water' } },
  })
  await client.POST('/documents', {
    body: { title: 'Elephants', content: { format: 'tiptap-json', document: { type: 'doc', content: [heading, table] } } },
  })
  await client.PATCH('/documents/{id}', { params: document, body: { background_color: null } })
  await client.DELETE('/documents/{id}', { params: document })
  const shared = await client.POST('/documents/{id}/public-share', { params: document, body: { password: 'swordfish' } })
  const share = { path: { id: shared.data?.data.share_id ?? '' } }
  await client.PATCH('/public-shares/{id}', { params: share, body: { expires_at: 1893456000000, password: null } })
  await client.DELETE('/public-shares/{id}', { params: share })
  await client.POST('/documents/read', { body: { ids: ['doc_1', 'doc_2'], view: 'plain-text', max_tokens: 8000 } })
  await client.POST('/documents/{id}/duplicate', { params: document, body: { title: 'Copy', folder_id: 40 } })
  await client.POST('/documents/move', { body: { ids: ['doc_1', 'doc_2'], folder_id: 40 } })
  await client.POST('/documents/delete', { body: { ids: ['doc_1', 'doc_2'] } })

  await client.PUT('/documents/{id}/content', {
    params: { ...document, ...guard, query: { annotate: 'anchors' } },
    body: { format: 'markdown', content: 'Water' },
  })
  await client.PUT('/documents/{id}/content', {
    params: { ...document, ...guard },
    body: { format: 'tiptap-json', document: { type: 'doc', content: [heading, paragraph, table, ...others] } },
  })
  await client.POST('/documents/{id}/content/edit', {
    params: { ...document, ...guard },
    body: {
      edits: [
        { op: 'replace', find: 'Water', replace: 'Milk' },
        { op: 'replace', find: 'water', replace: '', occurrence: 'all', match_case: false, block_id: blockId },
        { op: 'append', markdown: 'The end', section: 'water' },
        { op: 'prepend', markdown: 'The beginning' },
      ],
      base_version: 'sha256:0',
    },
  })
  await client.POST('/documents/{id}/versions/{seq}/rollback', { params: { path: { id: 'doc_1', seq: 3 }, ...guard } })
  await client.POST('/documents/{id}/blocks', {
    params: document,
    body: { position: { document_start: true }, nodes: [paragraph] },
  })
  await client.POST('/documents/{id}/blocks', {
    params: document,
    body: { position: { after_block_id: blockId }, nodes: [heading, table] },
  })
  const block = { path: { id: 'doc_1', blockId } }
  await client.PATCH('/documents/{id}/blocks/{blockId}', { params: block, body: { node: heading } })
  await client.PATCH('/documents/{id}/blocks/{blockId}', {
    params: { ...block, ...guard },
    body: { attrs: { level: 3 }, content: [text] },
  })
  await client.DELETE('/documents/{id}/blocks/{blockId}', { params: block })
  await client.POST('/documents/{id}/batch', {
    params: document,
    body: {
      base_version: version,
      operations: [
        { op: 'insert', position: { after_heading: 'Water' }, nodes: [paragraph] },
        { op: 'replace', block_id: blockId, node: heading, if_match: version },
        { op: 'delete', block_id: blockId },
      ],
    },
  })

  await client.POST('/relations', {
    body: { source_document_id: 'doc_1', source_block_id: blockId, target_uri: 'svc://doc/doc_2', predicate: 'supports' },
  })
  await client.DELETE('/relations/{id}', { params: { path: { id: 'rel_1' } } })

  const concept = { path: { id: 'con_1' }, header: { 'If-Match': '"concept:1"' } }
  const evidence: Schemas['ConceptEvidenceInput'] = { document_id: 'doc_1', block_id: null, excerpt: 'Water' }
  await client.POST('/concepts', {
    body: { name: 'Water', knowledge_base_id: 12, aliases: ['H2O'], labels: [{ locale: 'de', name: 'Wasser' }], sources: [evidence] },
  })
  await client.PATCH('/concepts/{id}', { params: concept, body: { status: 'archived', description: null } })
  await client.POST('/concepts/{id}/sources', { params: concept, body: evidence })
  await client.POST('/concepts/{id}/relations', {
    params: concept,
    body: { predicate: 'evidenced_by', object: { kind: 'block', id: 'doc_1', block_id: blockId }, valid_from: 0 },
  })
  await client.POST('/concepts/{id}/merge', { params: concept, body: { target_concept_id: 'con_2', target_version: 'concept:1' } })
  const candidate = { path: { id: 'cand_1' }, header: { 'If-Match': '"candidate:1"' } }
  await client.POST('/concept-candidates/extract', { body: { document_id: 'doc_1' } })
  await client.POST('/concept-candidates/{id}/accept', { params: candidate, body: { concept_id: 'con_1' } })
  await client.POST('/concept-candidates/{id}/reject', { params: candidate, body: { reason: 'too general' } })

  const summary = { text: 'Elephants drink.', base_source_version: version, pinned: true }
  const stored = { header: { 'If-Match': '"summary:0"' } }
  await client.PUT('/documents/{id}/summary', { params: { ...document, ...stored }, body: summary })
  await client.POST('/documents/{id}/summary/rebuild', { params: document, body: { generator: 'model' } })
  await client.PUT('/folders/{id}/summary', { params: { path: { id: 40 }, ...stored }, body: summary })
  await client.POST('/folders/{id}/summary/rebuild', { params: { path: { id: 40 } }, body: {} })
  await client.PUT('/knowledge-bases/{id}/summary', { params: { path: { id: 12 }, ...stored }, body: summary })
  await client.POST('/knowledge-bases/{id}/summary/rebuild', { params: { path: { id: 12 } } })

  await client.POST('/documents/{id}/translation/activate', {
    params: document,
    body: { source_locale: 'en', target_locales: ['fr'], create_mode: 'copy_structure' },
  })
  await client.POST('/documents/{id}/translation/deactivate', { params: document })
  await client.POST('/documents/{id}/translations', { params: document, body: { locale: 'de', create_mode: 'blank' } })
  const translation = { path: { id: 'doc_1', targetDocId: 'doc_2' } }
  await client.PATCH('/documents/{id}/translations/{targetDocId}', { params: translation, body: { workflow_status: 'published' } })
  await client.DELETE('/documents/{id}/translations/{targetDocId}', { params: translation })
  await client.POST('/documents/{id}/translations/{targetDocId}/prepare', { params: translation, body: { align: 'none' } })
  await client.PATCH('/documents/{id}/translation-units/{unitId}', {
    params: { path: { id: 'doc_1', unitId: 'tu_1' }, ...guard },
    body: { target_document_id: 'doc_2', review_status: 'current', target_block_ids: [blockId] },
  })
  await client.POST('/documents/{id}/translation-jobs', { params: document, body: { target_locale: 'fr' } })
  await client.POST('/translation-jobs/{id}/apply', {
    params: { path: { id: 'tjob_1' }, ...guard },
    body: { unit_ids: ['tu_1'] },
  })

  await client.POST('/attachments', {
    body: { document_id: 'doc_1', file: '' },
    bodySerializer: ({ document_id }) => {
      const form = new FormData()
      form.set('document_id', document_id)
      form.set('file', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt')
      return form
    },
  })
  await client.DELETE('/attachments/{id}', { params: { path: { id: 'att_1' }, query: { force: true } } })
  const entry = { params: { path: { id: 'trash_1' } } }
  const restored = await client.POST('/trash/{id}/restore', { ...entry, body: { knowledge_base_id: 1 } })
  restored.data?.data.not_restored.includes('public_share')
  await client.DELETE('/trash/{id}', entry)
}
`
