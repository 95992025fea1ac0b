import { type Command, Option } from 'commander'
import type { Output } from '../terminal/output.ts'
import type { Connection, Patience } from './connection.ts'
import type { Interrupts } from './interrupts.ts'
import type { LoginFile } from './logins.ts'

/** What the work of a command is given. */
export type Context = {
  readonly out: Output
  readonly logins: LoginFile
  readonly env: NodeJS.ProcessEnv
  /** What Ctrl-C does. A command that makes a file registers here how the file is removed. */
  readonly interrupts: Interrupts
  /**
   * The origin that `--origin`, KB_ORIGIN or else the last login names. Throws a Failure of the kind `denied` when
   * there is none.
   */
  origin: () => Promise<string>
  /**
   * The service, with the token of the login. Throws a Failure of the kind `denied` without a token. `patience` says
   * how long the client tries again, in place of some seconds.
   */
  connect: (patience?: Patience) => Promise<Connection>
}

/**
 * What a module of `shared/cli/commands/` registers itself with. The action of a command is `run` around its work. The
 * work throws what went wrong, and the program turns it into an error message and an exit code.
 */
export type Cli = {
  readonly program: Command
  readonly run: (work: (context: Context) => Promise<void>) => Promise<void>
}

/** How the service treats blocks of a text that has no anchors for them. */
export type IdPolicy = 'match' | 'strict'

/** The option of commands that replace the body of a document. */
export function idsOption(): Option {
  return new Option(
    '--ids <policy>',
    'what blocks without an anchor get: the ids of the blocks they continue, or new ids',
  )
    .choices(['match', 'strict'] satisfies IdPolicy[])
    .default('match')
}

/** The part of the help of a command that shows how the command is called: pairs of a call and its meaning. */
export function examples(...calls: [call: string, meaning: string][]): string {
  const lines = calls.map(([call, meaning]) => `  # ${meaning}\n  $ knowledge-base ${call}`)
  return `\nExamples:\n${lines.join('\n')}`
}
