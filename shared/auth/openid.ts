/** A person as the provider knows them. */
export type OpenIdIdentity = { issuer: string; subject: string; email: string | null; emailVerified: boolean }

/** The secrets of one sign-in, which the answer of the provider must match. `verifier` is the code verifier of PKCE. */
export type OpenIdFlow = { state: string; nonce: string; verifier: string }

/**
 * A reason for which a sign-in failed. `misconfigured` is a fault of the operator's settings, here or at the provider.
 */
type Reason = 'unreachable' | 'misconfigured' | 'cancelled' | 'invalid'

/** A sign-in at the provider that failed. `reason` is for the person, `cause` and `facts` are for the log. */
export class OpenIdError extends Error {
  override readonly name = 'OpenIdError'
  readonly reason: Reason
  readonly facts: Record<string, unknown>

  constructor(reason: Reason, { cause, facts = {} }: { cause: unknown; facts?: Record<string, unknown> }) {
    super(`sign-in at the provider: ${reason}`, { cause })
    this.reason = reason
    this.facts = facts
  }
}

export type OpenIdProvider = {
  /** The address at the provider where the sign-in begins. Rejects with `OpenIdError`. */
  begin: (flow: OpenIdFlow) => Promise<URL>
  /**
   * The person whom the provider sent back to `openIdCallbackPath` with the query string `search`. Rejects with
   * `OpenIdError`.
   */
  finish: (flow: OpenIdFlow, search: string) => Promise<OpenIdIdentity>
}

/** Path below PUBLIC_ORIGIN that the operator registers with the provider as the redirect URI. */
export const openIdCallbackPath = '/login/openid/callback'
