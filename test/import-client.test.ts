import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import t from 'tap'
import ts from 'typescript'
import { describeApi } from '../api/docs/openapi.ts'
import { routes } from '../api/routes/routes.ts'
import { root } from './support/processes.ts'

// `UPDATE_CLIENT=1 npm test -- test/import-client.test.ts` writes the types anew.
const file = join(root, 'shared/import/openapi.d.ts')

const operations = new Set([
  'getMe',
  'createKnowledgeBase',
  'createFolder',
  'createDocument',
  'createAttachment',
  'replaceContent',
])

t.test('the importer calls the API as its description says', async (t) => {
  const types = await clientTypes()
  if (process.env['UPDATE_CLIENT'] === '1') await writeFile(file, types)
  t.equal(await readFile(file, 'utf8'), types)
})

/** The types of the operations that the importer calls. Descriptions are left out: prose changes no call. */
async function clientTypes(): Promise<string> {
  const called = routes.filter(({ operationId }) => operations.has(operationId))
  const description = describeApi({ routes: called, origin: 'https://documents.example' }) as OpenAPI3
  const text = astToString(await openapiTS(description, { transform: fileType }))
  const head = '// Generated from the OpenAPI description by test/import-client.test.ts.\n\n'
  return head + text.replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
}

// OpenAPI describes a file as a string; a program sends a Blob.
function fileType(schema: object): ts.TypeNode | undefined {
  return 'contentMediaType' in schema ? ts.factory.createTypeReferenceNode('Blob') : undefined
}
