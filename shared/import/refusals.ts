import { KnowledgeBaseError } from '../client/client.ts'

/** An error that ends an import. The message is for the person who imports. */
export class ImportError extends Error {}

/** An error by which the service says that no request of this import can succeed. */
export class FinalRefusal extends ImportError {}

/** An error by which the service refuses one document, folder or file. The import goes on with the other things. */
export class Refused extends Error {
  /** The code of the error, as the reference of the API lists it. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

// Errors of the client that no later request of the import can escape.
const fatalCodes = new Set(['quota_exceeded', 'route_not_found', 'knowledge_base_not_found', 'redirected'])

/**
 * Waits for a call of the client. Throws Refused when the service refuses this one thing. Throws a FinalRefusal when
 * the token lacks a right, or when the knowledge base is missing or full. Throws an ImportError when the service stays
 * away.
 */
export async function accepted<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof KnowledgeBaseError)) throw error
    const { status = 0, code, reason } = error
    const message = `${status === 0 ? '' : `${status} `}${code}: ${reason}`
    const cause = { cause: error }
    if (status === 401 || status === 403 || fatalCodes.has(code)) throw new FinalRefusal(message, cause)
    if (status >= 400 && status < 500) throw new Refused(code, message, cause)
    throw new ImportError(`the service does not answer: ${reason}`, cause)
  }
}
