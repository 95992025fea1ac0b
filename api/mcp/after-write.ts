import type { ErrorCode } from '../../shared/errors/errors.ts'
import type { ToolUse } from './tool.ts'

/** What was read after a stored write. Without a value, `code` says why it could not be read. */
export type ReadBack<Value> = { value: Value } | { value: null; code: ErrorCode }

/**
 * Reads what the answer to a stored write shows beside it. The write stands, whatever happens to this read, and the
 * caller of a refused call repeats it. So every failure is returned as its code and never thrown.
 */
export async function afterWrite<Value>(use: ToolUse, read: () => Promise<Value>): Promise<ReadBack<Value>> {
  try {
    return { value: await read() }
  } catch (error) {
    return { value: null, code: use.refusalOf(error).code }
  }
}

/** The sentence that says that a write is stored although its answer lacks something, and how to get what it lacks. */
export function storedNote(lacking: string, code: ErrorCode): string {
  return `The write is stored, so do not repeat it; ${lacking} (${code})`
}
