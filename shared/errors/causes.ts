/**
 * Why something failed, from the error itself to what lies at its bottom: one short text for each error of the chain,
 * with the code of PostgreSQL or of the operating system where there is one. Stacks, statements and values are left out.
 */
export function causesOf(error: unknown): string[] {
  const texts = chainOf(error).map(({ name, message, code }) => {
    const text = (message || name).split('\n', 1)[0]?.slice(0, longestText) ?? ''
    return code === undefined || text.includes(code) ? text : `${text} (${code})`
  })
  return [...new Set(texts)]
}

const longestText = 300
const mostCauses = 8

type Cause = { name: string; message: string; code: string | undefined }

// slonik keeps what PostgreSQL has said in `originalError`; several addresses of one host fail in an AggregateError.
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

// Such as ECONNREFUSED, 57P01 and UND_ERR_SOCKET.
function isSystemCode(code: unknown): code is string {
  return typeof code === 'string' && /^[0-9A-Z_]+$/.test(code)
}
