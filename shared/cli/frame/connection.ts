import servicePackage from '../../../package.json' with { type: 'json' }
import { KnowledgeBase, type KnowledgeBaseOptions, type Retry } from '../../client/client.ts'
import type { Output } from '../terminal/output.ts'
import { Failure } from './failures.ts'
import type { LoginFile } from './logins.ts'
import { originOf } from './origins.ts'

/** How long a client waits for an answer, and how often it tries again. */
export type Patience = Pick<KnowledgeBaseOptions, 'timeout' | 'maxRetries' | 'maxRetryDelay'>

/** The service that a command talks to. */
export type Connection = { readonly origin: string; readonly service: KnowledgeBase }

/**
 * A connection with a token, or without one for the calls that need none. Pauses before repeated calls are shown to the
 * person who waits.
 */
export function connectAs(
  token: string | undefined,
  { origin, out, patience }: { origin: string; out: Output; patience?: Patience | undefined },
): Connection {
  const onRetry = ({ error, delay }: Retry) => {
    if (delay >= 2000) out.note({ text: `waiting ${Math.round(delay / 1000)} s: ${error.message}`, style: 'dim' })
  }
  const userAgent = `knowledge-base-documents-cli/${servicePackage.version} (command line)`
  return { origin, service: new KnowledgeBase({ origin, token, userAgent, onRetry, ...patience }) }
}

/** The origin that the command line, the environment or the last login names. Throws a Failure when none does. */
export async function originOfCall(input: {
  named?: string | undefined
  env: NodeJS.ProcessEnv
  logins: LoginFile
}): Promise<string> {
  const { named, env, logins } = input
  if (named !== undefined) return originOf(named, '--origin')
  if (env['KB_ORIGIN']) return originOf(env['KB_ORIGIN'], 'KB_ORIGIN')
  const { default_origin } = await logins.read()
  if (default_origin !== null) return default_origin
  throw new Failure('denied', 'not_signed_in', {
    message: 'No service is named.',
    hint: 'Sign in with "knowledge-base login --origin https://…", or set KB_ORIGIN and KB_TOKEN.',
  })
}

/**
 * The token for an origin: KB_TOKEN, or that of the login. Where KB_ORIGIN is set, KB_TOKEN is for that service alone.
 * Throws a Failure when there is neither.
 */
export async function tokenFor(origin: string, input: { env: NodeJS.ProcessEnv; logins: LoginFile }): Promise<string> {
  const { env, logins } = input
  const isMeant = !env['KB_ORIGIN'] || originOf(env['KB_ORIGIN'], 'KB_ORIGIN') === origin
  const token = (isMeant && env['KB_TOKEN']) || (await logins.read()).logins[origin]?.token
  if (token) return token
  throw new Failure('denied', 'not_signed_in', {
    message: `You are not signed in to ${origin}.`,
    hint: `Sign in with "knowledge-base login --origin ${origin}".`,
  })
}
