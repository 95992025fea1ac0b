import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Scope } from '../scopes.ts'

// The response of a request, with what its handlers tell each other.
type Answer = ServerResponse & { locals: Record<string, unknown> }

/** A request for authorization that waits for the decision of a person. */
export type WaitingRequest = {
  clientId: string
  /** The name that the program gave itself; null without a name. */
  clientName: string | null
  redirectUri: string
  scopes: readonly Scope[]
  resource: string
}

/** The decision of a person: the user and the grant of the approval, or null for a refusal. */
export type Decision = { userId: string; grantId: string } | null

/** The authorization server of the process. */
export type AuthorizationServer = {
  /**
   * Answers a request for one of the paths of OAuth. `url` and `body` are what the server gets in place of what the
   * client sent. `isConnected` says that the person of this browser has let the program in before. Only then is an
   * error sent on to the program before the person has decided. Rejects with a PageRefusal for a page that cannot be
   * shown, and with any error of the service.
   */
  serve: (
    request: IncomingMessage,
    response: Answer,
    input: { url: string; body: string; isConnected?: boolean },
  ) => Promise<void>
  /** The request with that id which this browser has made; null when there is none, or when it has expired. */
  waiting: (request: IncomingMessage, response: Answer, id: string) => Promise<WaitingRequest | null>
  /**
   * Records the decision about the waiting request of this browser. Returns the path at which the browser goes on, or
   * null when no request waits any more.
   */
  decide: (request: IncomingMessage, response: Answer, decision: Decision) => Promise<string | null>
}
