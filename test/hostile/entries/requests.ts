import { fingerprintOf, parseIdempotencyKey } from '../../../api/http/idempotency.ts'
import { bodyReader, queryReader } from '../../../api/http/input.ts'
import { decodeCursor } from '../../../api/http/pagination.ts'
import { parseEntityTags } from '../../../api/http/preconditions.ts'
import { negotiateContentType, parseLastEventId } from '../../../api/http/request-headers.ts'
import { addressOf } from '../../../api/http/requesters.ts'
import { nextPath } from '../../../api/pages/account-page.ts'
import { routes } from '../../../api/routes/routes.ts'
import { readUserCode } from '../../../shared/auth/device/authorization.ts'
import { parseBearer } from '../../../shared/auth/tokens.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { canonicalOrNull } from '../../../shared/locales/locale.ts'
import { lookupLocale } from '../../../shared/localization/resolve.ts'
import { parseUserAgent } from '../../../shared/requests/client.ts'
import { codePoints } from '../../../shared/schema/code-points.ts'
import { cursorMembers } from '../../../shared/schema/cursor-text.ts'
import { isStorable } from '../../../shared/schema/strings.ts'
import { decodeSearchCursor } from '../../../shared/search/cursor.ts'
import type { Entry } from '../entry.ts'

// What Node takes of all headers, and of the address, together.
const longestHeader = 16_384

const queryReaders = routes.flatMap(({ query }) => (query === undefined ? [] : [queryReader(query)]))
const bodyReaders = routes.flatMap(({ body }) =>
  body === undefined ? [] : [{ read: bodyReader(body), names: membersOf(body) }],
)

const scope = { endpoint: 'e', filters: {}, sort: 's' }

/** What comes with a request beside texts: headers, parameters, cursors, JSON. */
export const requestEntries: readonly Entry[] = [
  {
    name: 'a header',
    input: (text) => text,
    isNative: true,
    uses: {
      'If-Match': (text) => parseEntityTags(text),
      'If-None-Match': (text) => parseEntityTags(text, { name: 'If-None-Match' }),
      'User-Agent': (text) => parseUserAgent(text),
      'User-Agent with a name': (text) => parseUserAgent(`a/1 (${text}`),
      Accept: (text) => negotiateContentType(requestWith(text), ['text/html']),
      'Accept with parameters': (text) => negotiateContentType(requestWith(`text/html;${text}`), ['text/html']),
      'Idempotency-Key': (text) => parseIdempotencyKey(text),
      'Last-Event-ID': (text) => parseLastEventId(text),
      Authorization: (text) => parseBearer(/^Bearer +(\S+)$/i.exec(`Bearer ${text}`.trim())?.[1] ?? ''),
      'X-Forwarded-For': (text) => addressOf({ ip: text }),
    },
    longest: longestHeader,
  },
  {
    name: 'a parameter',
    input: (text) => text,
    isNative: true,
    uses: {
      cursor: (text) => decodeCursor(scope, text, ['string']),
      'cursor of members': (text) => cursorMembers(Buffer.from(JSON.stringify([text])).toString('base64url')),
      'search cursor': (text) => decodeSearchCursor(text),
      locale: (text) => canonicalOrNull(text),
      'locale to look up': (text) => lookupLocale(canonicalOrNull(text) ?? 'und', new Set(['en'])),
      'path to go on to': (text) => nextPath(`/${text}`),
      'user code': (text) => readUserCode(text),
    },
    longest: longestHeader,
  },
  {
    name: 'a query string',
    input: (text) => new URLSearchParams(text),
    uses: { 'all routes': (query) => queryReaders.map((read) => statusOf(() => read(query))) },
    longest: longestHeader,
  },
  {
    name: 'a member of JSON',
    input: (text) => text,
    isNative: true,
    uses: {
      codePoints: (text) => codePoints(text),
      isStorable: (text) => isStorable(text),
      fingerprintOf: (text) => fingerprintOf(jsonOf(text), new URLSearchParams()),
    },
  },
  {
    name: 'a body of JSON',
    input: (text) => jsonOf(text),
    uses: {
      'all routes': (value) =>
        bodyReaders.map(({ read, names }) =>
          statusOf(() => read(Object.fromEntries(names.map((name) => [name, value])))),
        ),
    },
  },
]

function statusOf(read: () => unknown): number {
  try {
    read()
    return 200
  } catch (error) {
    if (error instanceof Refusal) return error.status
    throw error
  }
}

function requestWith(accept: string) {
  const request = { headers: { accept } as Record<string, string>, accepts: (types: string[]) => types[0] }
  return request as unknown as Parameters<typeof negotiateContentType>[0]
}

// A text that is JSON is what it says, any other is a string.
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function membersOf(schema: object): string[] {
  const { properties, anyOf } = schema as { properties?: object; anyOf?: object[] }
  return properties === undefined ? (anyOf ?? []).flatMap(membersOf) : Object.keys(properties)
}
