const longestText = 300
const mostCauses = 8

/**
 * The chain of causes of an error, from the error itself to its first cause. Each text has at most 300 characters and
 * ends with the code of PostgreSQL or of the operating system, if there is one. Stacks, statements and values are left
 * out.
 */
export function causesOf(error: unknown): string[] {
  const texts = chainOf(error).map(({ name, message, code }) => {
    const text = (message || name).split('\n', 1)[0]?.slice(0, longestText) ?? ''
    return code === undefined || text.includes(code) ? text : `${text} (${code})`
  })
  return [...new Set(texts)]
}

type Cause = { name: string; message: string; code: string | undefined }

// Slonik keeps the error of PostgreSQL in `originalError`. A host with several addresses fails with an AggregateError,
// of which only the first error is followed.
function chainOf(error: unknown): Cause[] {
  const chain: Cause[] = []
  let current = error
  while (current instanceof Error && chain.length < mostCauses) {
    const { code, originalError } = current as { code?: unknown; originalError?: unknown }
    chain.push({ name: current.name, message: current.message, code: isSystemCode(code) ? code : undefined })
    const [first] = current instanceof AggregateError ? current.errors : []
    current = current.cause ?? originalError ?? first
  }
  return chain.length > 0 ? chain : [{ name: 'something that is no error', message: '', code: undefined }]
}

// Whether a code has the form of PostgreSQL's codes and of the system's, such as 57P01 or ECONNREFUSED.
function isSystemCode(code: unknown): code is string {
  return typeof code === 'string' && /^[0-9A-Z_]+$/.test(code)
}
