import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import openapiTS, {
  astToString,
  type OpenAPI3,
  type OperationObject,
  type ResponseObject,
  type SchemaObject,
} from 'openapi-typescript'
import ts from 'typescript'
import { describeApi } from '../../api/docs/openapi.ts'
import { minimalSchema, offersMinimal } from '../../api/http/minimal-answer.ts'
import { routes } from '../../api/routes/routes.ts'
import { root } from '../support/processes.ts'
import { t } from '../support/tap.ts'

// `UPDATE_CLIENT=1 npm test -- test/client/types.test.ts` writes the types anew.
const file = join(root, 'shared/client/openapi.d.ts')

t.test('programs call the API as its description says', async (t) => {
  const types = await clientTypes()
  if (process.env['UPDATE_CLIENT'] === '1') await writeFile(file, types)
  t.equal(await readFile(file, 'utf8'), types)
})

/** The types of all operations that programs call. */
async function clientTypes(): Promise<string> {
  const description = describeApi({ routes, origin: 'https://documents.example' }) as OpenAPI3
  for (const path of Object.values(description.paths ?? {})) {
    for (const operation of Object.values(path)) {
      leaveSuccesses(operation as OperationObject)
      addMinimalAnswers(operation as OperationObject)
    }
  }
  const { responses: _, headers: __, parameters, ...components } = description.components ?? {}
  const text = astToString(
    await openapiTS({ ...description, components: { ...components, parameters } }, { transform: fileType }),
  )
  return `// Generated from the OpenAPI description by test/client/types.test.ts.\n\n${compact(text)}`
}

// Every refused call throws the same class of error, so only the answers of successful calls need types.
function leaveSuccesses(operation: OperationObject): void {
  const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'))
  for (const [, response] of successes) if ('headers' in response) delete response.headers
  operation.responses = Object.fromEntries(successes)
}

// The answer to a write with `Prefer: return=minimal` beside the whole answer, as if it were another media type.
function addMinimalAnswers({ operationId, responses = {} }: OperationObject): void {
  const spec = routes.find((route) => route.operationId === operationId)
  if (spec === undefined || !offersMinimal(spec)) return
  for (const success of spec.success) {
    const data = minimalSchema(success)
    const { content = {} } = responses[success.status] as ResponseObject
    const schema = { type: 'object', required: ['data'], properties: { data: JSON.parse(JSON.stringify(data)) } }
    if (data !== null) content['return=minimal'] = { schema: schema as SchemaObject }
  }
}

// OpenAPI describes a file as a string; a program sends a Blob.
function fileType(schema: object): ts.TypeNode | undefined {
  return 'contentMediaType' in schema ? ts.factory.createTypeReferenceNode('Blob') : undefined
}

// Descriptions are left out: prose changes no call. So are members that can never be present.
function compact(text: string): string {
  return text
    .replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
    .replace(/^ *\w+\?: never;\n/gm, '')
    .replace(/^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm, '')
    .replace(/^ *parameters: \{\n *\};\n/gm, '')
    .replace(/^ +/gm, (indent) => indent.slice(indent.length / 2))
}
