import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** A command line that makes no sense; the message says what is wrong with it. */
export class UsageError extends Error {}

/** What a command takes; `usage` is what `--help` prints, with the exit codes that the command adds. */
export type Command<O extends ParseArgsOptionsConfig> = {
  usage: string
  options: O
  /** How many words may stand beside the options; none unless this says so. */
  words?: { least: number; most: number }
  /** What to print for an error; its message unless this says otherwise. */
  explain?: (error: unknown) => string
}

/** The command line as `node:util` reads it: the value of each option, and the words beside them. */
export type CommandLine<O extends ParseArgsOptionsConfig> = {
  values: ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>['values']
  words: string[]
}

/** Exit code of a command that could not do all that was asked. */
export const exitFailed = 1
/** Exit code of a command line that makes no sense. */
export const exitUsage = 2

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

/** A process that has been without its database for too long ends with this code: EX_UNAVAILABLE of sysexits. */
export const exitUnavailable = 69
