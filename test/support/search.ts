import type { Client } from './client.ts'

/** The answer of search v2. Throws when the search is refused. */
export async function searchV2(client: Client, query: Record<string, string | number>) {
  const { status, text, body } = await client.get(`/search/v2?${queryString(query)}`)
  if (status !== 200) throw new Error(`GET /search/v2 answered ${status}: ${text}`)
  return body.data
}

/** The query string of an address for these parameters. */
export function queryString(query: Record<string, string | number>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value))
  return parameters.toString()
}
