import { CommanderError } from 'commander'
import { KnowledgeBaseError } from '../../client/errors.ts'
import type { Output } from '../terminal/output.ts'
import type { Span } from '../terminal/terminal-text.ts'
import { exitCodes, Failure, type FailureKind } from './failures.ts'

/** The exit code of a command that has thrown the error. */
export function exitCodeOf(error: unknown): number {
  // Help and version are answers that commander gives by throwing.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
  return exitCodes[toldOf(error).kind]
}

/** Tells an error on standard error, in words for a person and as JSON for a program. */
export function tell(error: unknown, out: Output): void {
  if (error instanceof CommanderError) {
    if (error.exitCode !== 0 && error.code !== 'commander.help') tellUsage(error, out)
    return
  }
  const { kind: _kind, lines = [], ...told } = toldOf(error)
  const { message, hint } = told
  out.error({ error: told }, [
    [{ text: 'error: ', style: 'red' }, message],
    ...lines.map((line): Span[] => [line]),
    ...(hint === undefined ? [] : [[hint]]),
  ])
}

function tellUsage({ message }: CommanderError, out: Output): void {
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n')
  out.error({ error: { code: 'usage', message: [first, ...more].join(' ') } }, [
    [{ text: 'error: ', style: 'red' }, first],
    ...more.map((line): Span[] => [line]),
    ['"knowledge-base --help" lists the commands, "knowledge-base help COMMAND" explains a command.'],
  ])
}

/** What is told of an error. `status` and `request_id` are those of the answer of the service. */
export type Told = {
  kind: FailureKind
  code: string
  message: string
  lines?: readonly string[]
  hint?: string | undefined
  details?: unknown
  status?: number | undefined
  request_id?: string | undefined
}

/** What is told of an error that a command has thrown. */
export function toldOf(error: unknown): Told {
  if (error instanceof Failure) {
    const { kind, code, message, lines, hint, details } = error
    return { kind, code, message, lines, hint, details }
  }
  if (error instanceof KnowledgeBaseError) return toldOfService(error)
  const { code = 'failed', message = String(error) } = error as NodeJS.ErrnoException
  return { kind: 'failed', code, message }
}

function toldOfService(error: KnowledgeBaseError): Told {
  const { code, reason: message, status, details, requestId } = error
  const [kind, lines, hint] = [kindOf(error), fieldsOf(details), hintOf(error)]
  return { kind, code, message, lines, hint, details, status, request_id: requestId }
}

// What the service says of single members of a request that is not valid.
function fieldsOf(details: KnowledgeBaseError['details']): string[] {
  const fields = details?.['fields']
  if (!Array.isArray(fields)) return []
  return fields.map(({ path, message }: { path?: unknown; message?: unknown }) => `  ${path}: ${message}`)
}

function kindOf({ code, status }: KnowledgeBaseError): FailureKind {
  if (code === 'version_conflict') return 'conflict'
  if (status === 401 || status === 403) return 'denied'
  return status === 404 ? 'notFound' : 'failed'
}

function hintOf({ code, status, outcomeUnknown }: KnowledgeBaseError): string | undefined {
  if (status === 401) return 'Sign in with "knowledge-base login".'
  if (code === 'insufficient_scope')
    return 'Sign in again with the scopes that are needed: "knowledge-base login --scopes …".'
  if (outcomeUnknown) return 'The change may have been made all the same. Look before you repeat it.'
  return undefined
}
