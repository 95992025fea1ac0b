import type { PageData } from './page-data.ts'

/** The reason for which the service gives no ticket, in the words of live editing. */
export class TicketRefusal extends Error {
  readonly reason: 'invalid_token' | 'document_not_found'

  constructor(reason: 'invalid_token' | 'document_not_found') {
    super(reason)
    this.reason = reason
  }
}

/**
 * Asks the service for a ticket, which opens the document once within a minute. Throws a `TicketRefusal` when the user
 * is signed out or the document is gone, and another error when the service is out of reach.
 */
export async function requestTicket({ documentId, csrfToken }: PageData): Promise<string> {
  const response = await fetch(`/d/${documentId}/ticket`, {
    method: 'POST',
    body: new URLSearchParams({ csrf_token: csrfToken }),
    redirect: 'manual',
  })
  // A person who is signed out is sent to the sign-in page. The token of a form belongs to a session, too.
  if (response.type === 'opaqueredirect' || response.status === 403) throw new TicketRefusal('invalid_token')
  if (response.status === 404) throw new TicketRefusal('document_not_found')
  if (!response.ok) throw new Error(`The service answered ${response.status}`)
  const { ticket } = (await response.json()) as { ticket: string }
  return ticket
}
