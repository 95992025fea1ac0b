import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** A command line that makes no sense. The message says what is wrong. */
export class UsageError extends Error {}

/** The command line that a command takes. `--help` prints `usage`, which lists the exit codes of the command. */
export type Command<O extends ParseArgsOptionsConfig> = {
  usage: string
  options: O
  /** How many words may stand beside the options; none by default. */
  words?: { least: number; most: number }
  /** The text to print for an error; the message of the error by default. */
  explain?: (error: unknown) => string
}

/** The value of each option of a command line, and the words beside the options. */
export type CommandLine<O extends ParseArgsOptionsConfig> = {
  values: ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>['values']
  words: string[]
}

/** Exit code of a command that could not do everything it was asked. */
export const exitFailed = 1
/** Exit code of a command line that makes no sense. */
export const exitUsage = 2
/** Exit code of a process that has been without its database for too long: EX_UNAVAILABLE of sysexits. */
export const exitUnavailable = 69

/**
 * Runs a command of the terminal. `--help` prints the usage and exits with 0. A `UsageError` prints its reason and the
 * usage on standard error and exits with 2; any other error prints its explanation and exits with 1.
 */
export async function runCommandLine<const O extends ParseArgsOptionsConfig>(
  command: Command<O>,
  run: (line: CommandLine<O>) => Promise<void>,
): Promise<void> {
  const words = process.argv.slice(2)
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(`${command.usage}\n`)
    return
  }
  try {
    await run(readCommandLine(command, words))
  } catch (error) {
    const isUsage = error instanceof UsageError
    const explain = command.explain ?? messageOf
    process.stderr.write(isUsage ? `${error.message}\n\n${command.usage}\n` : `${explain(error)}\n`)
    process.exitCode = isUsage ? exitUsage : exitFailed
  }
}

function readCommandLine<const O extends ParseArgsOptionsConfig>(command: Command<O>, args: string[]): CommandLine<O> {
  const { least, most } = command.words ?? { least: 0, most: 0 }
  try {
    const { values, positionals } = parseArgs({ args, options: command.options, allowPositionals: true })
    if (positionals.length > most) throw new Error(`Unexpected argument '${positionals[most]}'`)
    if (positionals.length < least) throw new Error('An argument is missing')
    return { values, words: positionals }
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
