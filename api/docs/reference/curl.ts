import { apiPrefix, type Route } from '../../http/route.ts'
import { type ExampleCall, exampleCall } from '../openapi/examples.ts'

/** A call of the route as a line for a shell with ORIGIN and TOKEN; null where no call was recorded. */
export function curlOf(spec: Route): string | null {
  const call: Partial<ExampleCall> | undefined = spec.stream ? { path: spec.path } : exampleCall(spec.operationId)
  if (call === undefined) return null
  const words = [
    'curl',
    ...(spec.stream ? ['-N'] : []),
    ...(spec.method === 'GET' ? [] : ['-X', spec.method]),
    `"$ORIGIN${apiPrefix}${call.path}"`,
    ...(spec.access === 'anyone' ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(call.if_match === undefined ? [] : [`-H 'If-Match: ${call.if_match}'`]),
    ...payloadWords(spec, call.request),
  ]
  return words.join(' ')
}

function payloadWords(spec: Route, request: unknown): string[] {
  if (request === undefined) return []
  if (spec.multipart === undefined)
    return ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(request))}`]
  const fields = Object.entries(request as Record<string, string>).map(
    ([name, value]) => `-F ${quoted(`${name}=${value}`)}`,
  )
  return [...fields, `-F ${quoted(`${spec.multipart.file}=@picture.png`)}`]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
