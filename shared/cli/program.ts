import { Command } from 'commander'
import servicePackage from '../../package.json' with { type: 'json' }
import { registerBases } from './commands/bases.ts'
import { registerCat } from './commands/cat.ts'
import { registerDiff } from './commands/diff.ts'
import { registerEdit } from './commands/edit.ts'
import { registerEvents } from './commands/events.ts'
import { registerExport } from './commands/export.ts'
import { registerHistory } from './commands/history.ts'
import { registerImport } from './commands/import.ts'
import { registerJobs } from './commands/jobs.ts'
import { registerLogin } from './commands/login.ts'
import { registerLogout } from './commands/logout.ts'
import { registerMcp } from './commands/mcp.ts'
import { registerMv, registerRm } from './commands/mv.ts'
import { registerNew } from './commands/new.ts'
import { registerAppend, registerPut } from './commands/put.ts'
import { registerRestore } from './commands/restore.ts'
import { registerSearch } from './commands/search.ts'
import { registerShare } from './commands/share.ts'
import { registerSync } from './commands/sync.ts'
import { registerTag } from './commands/tag.ts'
import { registerTrash } from './commands/trash.ts'
import { registerTree } from './commands/tree.ts'
import { registerWhoami } from './commands/whoami.ts'
import type { Cli, Context } from './frame/command.ts'
import { connectAs, originOfCall, tokenFor } from './frame/connection.ts'
import { exitCodeOf, tell } from './frame/errors.ts'
import { Interrupts } from './frame/interrupts.ts'
import { configDirectory, LoginFile } from './frame/logins.ts'
import { Output } from './terminal/output.ts'

/** The commands in the order of the help. */
const registrations: readonly ((cli: Cli) => void)[] = [
  registerLogin,
  registerLogout,
  registerWhoami,
  registerBases,
  registerTree,
  registerCat,
  registerSearch,
  registerEdit,
  registerNew,
  registerPut,
  registerAppend,
  registerMv,
  registerRm,
  registerTag,
  registerShare,
  registerTrash,
  registerHistory,
  registerDiff,
  registerRestore,
  registerImport,
  registerExport,
  registerEvents,
  registerJobs,
  registerSync,
  registerMcp,
]

const epilogue = `
Environment:
  KB_ORIGIN       address of the service, unless --origin names one
  KB_TOKEN        token that takes the place of the login, for KB_ORIGIN
  VISUAL, EDITOR  the editor of "edit"
  NO_COLOR        set to anything: no colours

Exit codes:
  0 done, 1 failed, 2 wrong command line or a name with several meanings, 3 conflict, 4 not signed in or not allowed,
  5 not found, 130 interrupted

"knowledge-base help COMMAND" explains a command, with examples.`

/**
 * Runs the command line: `words` are those behind the name of the program. Prints the answer or the error, and sets the
 * exit code of the process.
 */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  const options = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
  const { stdout, stderr, env } = process
  const out = new Output({ stdout, stderr, env, json: options.includes('--json') })
  endWithReader()
  const interrupts = new Interrupts()
  interrupts.watch(() => out.endProgress())
  try {
    await programOf(words, { out, interrupts }).parseAsync(words, { from: 'user' })
  } catch (error) {
    // The process is about to end, and needs no other error.
    if (interrupts.signal.aborted) return
    out.endProgress()
    tell(error, out)
    process.exitCode = exitCodeOf(error)
  }
}

function programOf(words: readonly string[], { out, interrupts }: { out: Output; interrupts: Interrupts }): Command {
  const program = new Command('knowledge-base')
    .description('Reads, writes and searches the documents of a knowledge base service.')
    .option('--origin <url>', 'address of the service')
    .option('--json', 'answers for programs, errors too')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', epilogue)
    // What is wrong with a command line is told by `tell`, like every other error.
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
  const run: Cli['run'] = (work) => work(contextOf({ out, interrupts, ...program.opts<{ origin?: string }>() }))
  for (const register of registrations) register({ program, run })
  // Behind the name of a command, --version is an option of that command.
  if (words[0]?.startsWith('-') !== false) program.version(servicePackage.version)
  return program
}

function contextOf(input: { out: Output; interrupts: Interrupts; origin?: string }): Context {
  const { out, interrupts, origin: named } = input
  const { env } = process
  const logins = new LoginFile(configDirectory(env))
  const origin = () => originOfCall({ named, env, logins })
  const connect: Context['connect'] = async (patience) => {
    const address = await origin()
    return connectAs(await tokenFor(address, { env, logins }), { origin: address, out, patience })
  }
  return { out, env, logins, interrupts, origin, connect }
}

// A reader that has seen enough, such as `head`, closes its end of the pipe. That is no error.
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
      throw error
    })
  }
}
