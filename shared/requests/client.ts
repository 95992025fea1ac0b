/** What a User-Agent of the recommended form says about the caller (decisions 2.0). */
export type Client = { name: string | null; version: string | null; isAgent: boolean }

/**
 * Parses `<client>/<version> (<client name>)` (specification 2.1); a client without a name in parentheses goes by the word
 * in front. The agent flag is set when the parenthesised part contains the word `agent`. Anything else yields nulls and is
 * never an error; what is kept is short and printable.
 */
export function parseUserAgent(header: string | undefined): Client {
  const match = /^([^\s/()]{1,100})\/([^\s()]{1,50})(?:\s+\(([^()]{0,200})\))?/.exec(header ?? '')
  if (match === null) return { name: null, version: null, isAgent: false }
  const printable = (text: string | undefined) => (text === undefined || !/^[\x20-\x7e]*$/.test(text) ? null : text)
  return {
    name: printable(match[3]?.trim() || match[1]),
    version: printable(match[2]),
    isAgent: /\bagent\b/i.test(match[3] ?? ''),
  }
}
