import { Compile } from 'typebox/compile'
import { nextStep } from '../../api/mcp/next-steps.ts'
import { tools } from '../../api/mcp/tools.ts'
import { errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import { p } from '../document/build.ts'
import { make, put } from '../support/documents.ts'
import { connectMcp, textOf } from '../support/mcp.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

// What an agent is told to do next can be done as it is told.

const version = `sha256:${'0'.repeat(64)}`
const details = {
  provided: version,
  current_version: version,
  required_scopes: ['documents:read'],
  required_role: 'editor',
  index: 0,
  nearest: [{ block_id: 'block_1', text: 'x' }],
  block_ids: ['block_1'],
  changed_block_ids: ['block_1'],
  retry_after: 1,
  quota: 'documents',
}
const ofBlock = { ...details, current_hash: version, block_id: 'block_1', operation_index: 0 }

// Calls that can be refused, of every tool, with and without a document.
const calls: [string, object][] = [
  ...tools.map(({ name }): [string, object] => [name, {}]),
  ...tools.map(({ name }): [string, object] => [name, { document_id: 'doc_1', action: 'list' }]),
  ['delete', { document_ids: ['doc_1'] }],
  ['delete', { document_ids: ['doc_1', 'doc_2'] }],
  ['concepts', { action: 'relate', concept_id: 'concept_1' }],
  ['concepts', { action: 'accept', candidate_id: 'candidate_1' }],
  ['summarise', { folder_id: 1, text: 'x', summary_version: 1, source_version: 'x' }],
  ['summarise', { document_id: 'doc_1', section: 'block_1', rebuild: 'model' }],
  ['translate', { action: 'apply', job_id: 'tjob_1' }],
]

t.test('every call that an agent is told to make has the arguments that its tool takes', async (t) => {
  for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
    for (const [name, args] of calls) {
      for (const known of [details, ofBlock]) {
        const { next, next_call } = nextStep(code, { name, args: args as Record<string, unknown>, details: known })
        t.notMatch(next, /undefined.*version/, `${code} ${name}`)
        if (next_call === undefined) continue
        const schema = tools.find((tool) => tool.name === next_call.tool)?.listed.inputSchema ?? { not: {} }
        const closed = { ...schema, additionalProperties: false }
        const says = `${code} of ${name}: ${next_call.tool} ${JSON.stringify(next_call.arguments)}`
        if (!Compile(closed).Check(next_call.arguments)) t.fail(says)
      }
    }
  }
})

t.test('after a conflict, each tool names its own argument, and the call that it names succeeds', async (t) => {
  const { origin, signUp } = await sharedService()
  const ada = await signUp()
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const follow = async (name: string, args: object, guard: RegExp) => {
    const result = await call(name, args)
    const { error } = result.structuredContent as { error: Record<string, unknown> }
    t.match(error, { code: 'version_conflict', next: guard }, `${name}: ${textOf(result)}`)
    const { tool, arguments: told } = error['next_call'] as { tool: string; arguments: object }
    const followed = await call(tool, told)
    t.notOk(followed.isError, textOf(followed))
  }
  const made = await make(ada, [p('text')])
  await put(ada, made.id, [p('later')])
  await follow('delete', { document_ids: [made.id], version: made.version }, /with version "sha256:/)
  const { knowledge_base_id } = (await ada.get(`/documents/${made.id}`)).body.data
  const [animal, cat] = [
    (await ada.post('/concepts', { knowledge_base_id, name: 'Animal' })).body.data,
    (await ada.post('/concepts', { knowledge_base_id, name: 'Cat' })).body.data,
  ]
  const relation = { action: 'relate', concept_id: animal.id, predicate: 'broader_than', other_concept_id: cat.id }
  await follow('concepts', { ...relation, version: 'concept:99' }, /with version "concept:/)
  const source = ((await call('summarise', { document_id: made.id })).structuredContent as Record<string, unknown>)[
    'current_source_version'
  ]
  const summary = { document_id: made.id, text: 'Mine.', source_version: source, summary_version: 99 }
  await follow('summarise', summary, /with summary_version \d+,/)
})
