import type { PageData } from './page-data.ts'
import { askService, ServiceRefusal } from './service.ts'

/** The reason for which the service gives no ticket, in the words of live editing. */
export class TicketRefusal extends Error {
  readonly reason: 'invalid_token' | 'document_not_found'

  constructor(reason: 'invalid_token' | 'document_not_found') {
    super(reason)
    this.reason = reason
  }
}

/**
 * Asks the service for a ticket, which opens the document within a minute. Throws a `TicketRefusal` when the user is
 * signed out or the document is gone, and another error when the service is out of reach.
 */
export async function requestTicket(page: PageData): Promise<string> {
  try {
    const path = `/d/${page.documentId}/ticket`
    return (await askService<{ ticket: string }>(page, { path, body: '' })).ticket
  } catch (error) {
    const status = error instanceof ServiceRefusal ? error.status : 0
    // The CSRF token belongs to the session, so a page of an earlier session is refused with 403.
    if (status === 401 || status === 403) throw new TicketRefusal('invalid_token')
    if (status === 404) throw new TicketRefusal('document_not_found')
    throw error
  }
}
