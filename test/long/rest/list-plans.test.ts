import pg from 'pg'
import { routes } from '../../../api/routes/routes.ts'
import { createFixture, withModel } from '../../contract/fixtures.ts'
import type { Fixture } from '../../contract/resources.ts'
import type { Client } from '../../support/client.ts'
import { seedDocuments } from '../../support/many-documents.ts'
import { rowsReadBy, type Statement, statementsOf } from '../../support/plans.ts'
import { startTestService } from '../../support/service.ts'
import { type Test, t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'

const documents = 20_000
// A statement of a page of 50 items may read so many rows, or sort them. A list of a whole base would read 20,000.
const mostRows = 2500

// Filters that leave few documents. A search counts all documents that pass its filters.
const narrowed = [
  ...['&document_id=doc_77&group_by=document&per_document=2'],
  ...['&document_id=doc_77&folder_id=999999&block_type=title&block_type=table', '&tag=rare&property[rare]=77'],
  ...['&updated_by=usr_1&sort=updated_at', '&updated_after=2100-01-01&group_by=document', '&updated_before=2000-01-01'],
]

// The calls whose statements are inspected, for each list route. Every query parameter of the route occurs in them.
const callsOf: Record<string, (f: Fixture) => string[]> = {
  search: () => [
    '/search?q=rare77&limit=50',
    '/search?q=rare77%20common&knowledge_base_id=$BASE',
    ...narrowed.map((filter) => `/search?q=rare77&limit=50${filter}`),
    '/search?q=rare77%20-common&syntax=operators&highlight=true&wait_ms=0&typing=false&knowledge_base_id=$BASE',
  ],
  searchV2: () => [
    ...narrowed.map((filter) => `/search/v2?q=rare77&limit=50${filter}`),
    '/search/v2?q=rare77&mode=exhaustive&limit=50&document_id=doc_77',
    '/search/v2?q=rare77&limit=50&include_summary=true',
    '/search/v2?q=rare77%20common&knowledge_base_id=$BASE&locale=all',
    '/search/v2?q=rare77%20-common&syntax=operators&highlight=true&wait_ms=0&knowledge_base_id=$BASE',
    '/search/v2?q=rare7&typing=true',
    '/search/v2?q=rare77&mode=exhaustive&limit=50&cursor=',
  ],
  listRelationTypes: () => ['/relation-types?limit=5&cursor='],
  listRelations: ({ documentId }) => [
    `/documents/${documentId}/relations?limit=50&cursor=`,
    `/documents/${documentId}/relations?limit=50&direction=incoming&predicate=refers_to&cursor=`,
  ],
  // Names of concepts are looked through in their order. This part is near, since it is in all of them.
  listConcepts: () => [
    '/concepts?knowledge_base_id=$BASE&limit=50&cursor=',
    '/concepts?knowledge_base_id=$BASE&limit=50&q=concept%20&cursor=',
    '/concepts?knowledge_base_id=$BASE&limit=50&status=all&document_id=doc_77',
  ],
  traverseConcept: ({ conceptId }) => [
    `/concepts/${conceptId}/traverse?limit=50&cursor=`,
    `/concepts/${conceptId}/traverse?limit=50&at=1&direction=incoming&predicate=related_to`,
  ],
  listConceptCandidates: ({ candidateId }) => [
    '/concept-candidates?knowledge_base_id=$BASE&limit=50&cursor=',
    '/concept-candidates?knowledge_base_id=$BASE&limit=50&review_status=all&cursor=',
    '/concept-candidates?knowledge_base_id=$BASE&limit=50&review_status=accepted&document_id=doc_77',
    `/concept-candidates?knowledge_base_id=$BASE&candidate_id=${candidateId}`,
  ],
  listKnowledgeBases: () => ['/knowledge-bases?limit=50&cursor='],
  listTags: () => ['/knowledge-bases/$BASE/tags?limit=50&cursor='],
  listFolderChildren: ({ folderId }) => [
    `/folders/${folderId}/children?limit=50&cursor=`,
    `/folders/${folderId}/children?limit=100&cursor=`,
    `/folders/${folderId}/children?limit=50&sort=updated_at&cursor=`,
    `/folders/${folderId}/children?limit=50&sort=manual&cursor=`,
  ],
  listDocuments: ({ folderId }) => [
    ...['', '&knowledge_base_id=$BASE', `&folder_id=${folderId}`].flatMap((place) => [
      `/documents?limit=50${place}&cursor=`,
      `/documents?limit=50${place}&q=title&cursor=`,
      `/documents?limit=50${place}&q=e%20777&cursor=`,
      `/documents?limit=50${place}&q=zzz&sort=updated_at`,
      `/documents?limit=50${place}&include_variants=true&cursor=`,
      `/documents?limit=50${place}&sort=updated_at&cursor=`,
      `/documents?limit=50${place}&sort=updated_at&updated_since=0&cursor=`,
      `/documents?limit=50${place}&locale=de&cursor=`,
      `/documents?limit=50${place}&locale=fr&sort=updated_at`,
      `/documents?limit=50${place}&tag=common&property[kind]=common&cursor=`,
      `/documents?limit=50${place}&tag=rare&sort=updated_at`,
    ]),
  ],
  listPublicShares: ({ documentId }) => [
    '/public-shares?limit=50&cursor=',
    '/public-shares?limit=50&knowledge_base_id=$BASE&cursor=',
    `/public-shares?limit=50&document_id=${documentId}`,
  ],
  listAttachments: ({ documentId }) => [
    '/attachments?limit=50&cursor=',
    '/attachments?limit=50&knowledge_base_id=$BASE&cursor=',
    '/attachments?limit=50&referenced=true&cursor=',
    '/attachments?limit=50&referenced=false&cursor=',
    `/attachments?limit=50&document_id=${documentId}&cursor=`,
    `/attachments?limit=50&document_id=${documentId}&referenced=true&cursor=`,
  ],
  listAudit: ({ documentId }) => [
    ...['/audit?limit=50&cursor=', `/audit?limit=50&document_id=${documentId}&cursor=`],
    ...['/audit?limit=50&user_id=usr_1&token_id=tok_1&action=updateDocument&cursor='],
    ...['/audit?limit=50&user_id=usr_nobody', '/audit?limit=50&token_id=tok_nothing', '/audit?limit=50&action=nothing'],
    ...['/audit?limit=50&user_id=usr_1&token_id=tok_nothing&action=updateDocument'],
    ...['/audit?limit=50&before=2000-01-01', '/audit?limit=50&after=2100-01-01'],
  ],
  listVersions: ({ documentId }) => [`/documents/${documentId}/versions?limit=50&cursor=`],
  listBlocks: ({ documentId }) => [`/documents/${documentId}/blocks?limit=1&recursive=true&cursor=`],
  listChanges: ({ documentId }) => [`/documents/${documentId}/changes?limit=50&after=`],
  listTranslationAudit: ({ documentId }) => [`/documents/${documentId}/translation-audit?limit=50&cursor=`],
  listLocalizationAudit: ({ documentId }) => [`/documents/${documentId}/localization-audit?limit=50&cursor=`],
  listTrash: () => [
    '/trash?limit=50&cursor=',
    '/trash?limit=50&q=title%20&cursor=',
    '/trash?limit=50&q=e%20777&cursor=',
    '/trash?limit=50&knowledge_base_id=$BASE&cursor=',
    '/trash?limit=50&knowledge_base_id=$BASE&q=zzz',
  ],
  listTranslationUnits: ({ documentId, translationId }) => [
    `/documents/${documentId}/translation-units?limit=1&target_document_id=${translationId}&cursor=`,
    `/documents/${documentId}/translation-units?limit=1&locale=fr&status=missing`,
  ],
}

const listRoutes = routes.filter(
  ({ method, query, success }) =>
    method === 'GET' && (success.some(({ list }) => list) || Object.hasOwn(query?.properties ?? {}, 'limit')),
)

t.test('every list route is held against its plans, with each of its parameters', async (t) => {
  t.strictSame(Object.keys(callsOf).sort(), listRoutes.map(({ operationId }) => operationId).sort())
  for (const { operationId, query } of listRoutes) {
    const calls = callsOf[operationId]?.({} as Fixture) ?? []
    const missing = Object.keys(query?.properties ?? {}).filter(
      (name) => !calls.some((call) => new RegExp(`[?&]${name}[=[]`).test(call)),
    )
    t.strictSame(missing, [], `the parameters of ${operationId}`)
  }
})

t.test('a page of a list in 20,000 documents is read without reading or sorting all of them', async (t) => {
  const service = await startTestService(t, withModel)
  const { signUp, url } = service
  const owner = await signUp({ workspace: 'One' })
  const fixture = await createFixture(owner)
  const other = await signUp({ workspace: 'Two' })
  await createFixture(other)
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  await seedDocuments(client, { documents, others: 4000 })
  // This user sees both workspaces.
  const email = 'both@example.test'
  await signUp({ email, workspace: 'One' })
  const both = await signUp({ email, workspace: 'Two' })
  for (const { operationId } of listRoutes) {
    await t.test(operationId, async (t) => {
      for (const call of callsOf[operationId]?.(fixture) ?? []) {
        const path = call.replace('$BASE', String(fixture.knowledgeBaseId))
        for (const reader of [owner, both]) {
          for (const statement of await statementsOfList(t, reader, path)) {
            const { most, plan } = await rowsReadBy(client, statement)
            if (most > mostRows) t.fail(`${path} reads ${most} rows`, { statement: statement.text, plan })
          }
        }
        t.pass(path)
      }
    })
  }
  await t.test('the panels of a document', async (t) => {
    await client.query(copiesOfJobs)
    await client.query('ANALYZE translation_jobs')
    const visitor = await signedInVisitor(service, { userId: owner.user_id })
    for (const panel of panels) {
      const path = `/d/${fixture.documentId}/${panel}`
      const statements = await statementsOf(async () => {
        t.equal((await visitor.get(path)).status, 200, path)
      })
      for (const statement of statements) {
        const { most, plan } = await rowsReadBy(client, statement)
        if (most > mostRows) t.fail(`${path} reads ${most} rows`, { statement: statement.text, plan })
      }
    }
  })
})

// What people see of the fixture's document beside its text.
const panels = [
  'relations',
  'relations?find=rare77',
  'concepts',
  'concepts?status=accepted',
  'translations?translation=fr',
]

// Jobs of other translations, as many as a busy workspace has.
const copiesOfJobs = `
  INSERT INTO translation_jobs (workspace_id, id, model, actor, document_set_id, source_document_id, target_document_id,
    source_locale, target_locale, source_version, target_version, units, remaining_unit_count, reserved_characters)
  SELECT workspace_id, id || n, model, actor, document_set_id, source_document_id, 'doc_' || n, source_locale,
    target_locale, source_version, target_version, units, 0, 0 FROM translation_jobs, generate_series(1, 20000) AS n`

// Calls a list, and a second page of it where there is a cursor. Returns the statements that read.
async function statementsOfList(t: Test, client: Client, path: string): Promise<Statement[]> {
  const sent = await statementsOf(async () => {
    const first = await client.get(path.replace(/[?&](cursor|after)=$/, ''))
    t.equal(first.status, 200, path, { answer: first.text.slice(0, 500) })
    const { page = first.body.data.page, data } = first.body
    const next = path.endsWith('after=') ? data.cursor : page?.next_cursor
    if (path.endsWith('=') && typeof next === 'string') {
      t.equal((await client.get(path + next)).status, 200, `the next page of ${path}`)
    }
  })
  t.ok(sent.length > 0, 'its statements were seen')
  return sent
}
