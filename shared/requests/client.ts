/** The program that calls, as its User-Agent describes it. */
export type Client = { name: string | null; version: string | null; isAgent: boolean }

/**
 * Parses a User-Agent of the form `<client>/<version> (<client name>)`. Without a name in parentheses the name is the
 * word before the slash. `isAgent` is true when the part in parentheses contains the word `agent`. Any other form
 * yields nulls and is never an error. Name and version are short and printable.
 */
export function parseUserAgent(header: string | undefined): Client {
  const match = /^([^\s/()]{1,100})\/([^\s()]{1,50})(?:\s+\(([^()]{0,200})\))?/.exec(header ?? '')
  if (match === null) return { name: null, version: null, isAgent: false }
  return {
    name: printable(match[3]?.trim() || match[1]),
    version: printable(match[2]),
    isAgent: /\bagent\b/i.test(match[3] ?? ''),
  }
}

/**
 * The program of an agent that names itself in a message, as `{"name", "version"}`. A program that does not is known by
 * its User-Agent. Name and version are short and printable.
 */
export function agentClient(named: unknown, userAgent: string | undefined): Client {
  const { name, version } = (typeof named === 'object' && named !== null ? named : {}) as Record<string, unknown>
  if (typeof name !== 'string' || name === '') return { ...parseUserAgent(userAgent), isAgent: true }
  const short = (text: unknown, length: number) =>
    typeof text === 'string' && text.length <= length ? printable(text) : null
  return { name: short(name, 200), version: short(version, 50), isAgent: true }
}

function printable(text: string | undefined): string | null {
  return text === undefined || !/^[\x20-\x7e]*$/.test(text) ? null : text
}
