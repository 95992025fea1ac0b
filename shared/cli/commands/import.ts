import { KnowledgeBaseError } from '../../client/errors.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import { knowledgeBaseNamed } from '../frame/names.ts'
import type { Output } from '../terminal/output.ts'

type Options = { into?: string; state?: string; again?: boolean; listSkipped?: boolean }

/** `import`: loads files into a knowledge base. */
export function registerImport({ program, run }: Cli): void {
  program
    .command('import')
    .argument('<path>', 'a folder or zip of Markdown files, or an export')
    .summary('load a folder or zip of Markdown, or an export')
    .description(
      'Loads a folder or zip of Markdown files, or a zip that "export" has made, and keeps folders, links and images. ' +
        'Makes a knowledge base unless --into names one. An import that was interrupted goes on when the same command ' +
        'is given again. A source that was imported before changes what it has changed.',
    )
    .option('--into <base>', 'knowledge base to import into: id, address or name')
    .option('--state <file>', 'where an interrupted import is noted; <path>.import-state without this option')
    .option('--again', 'import everything as new, although it was imported before')
    .option('--list-skipped', 'name every file that is skipped, and why')
    .addHelpText(
      'after',
      examples(
        ['import notes', 'a new knowledge base from a folder'],
        ['import knowledge-base-12.zip --origin https://other.example', 'an export, into another service'],
        ['import notes --into Zoo', 'more documents for a knowledge base'],
      ),
    )
    .action((path: string, options: Options) => run((context) => importPath(context, path, options)))
}

async function importPath({ out, connect }: Context, path: string, options: Options): Promise<void> {
  // The libraries that read Markdown take a moment to load, for which no other command has to wait.
  const { importSource, isForPerson, patience } = await import('../../import/import.ts')
  const connection = await connect(patience)
  const { origin, service: client } = connection
  const knowledgeBase = options.into === undefined ? null : await knowledgeBaseNamed(connection, options.into)
  const { state, again, listSkipped } = options
  const order = { path, origin, knowledgeBase, state, again, listsSkipped: listSkipped === true }
  const result = await importSource(order, { client, progress: progressOn(out) }).catch((error) => {
    throw isForPerson(error) ? told(error) : error
  })
  out.endProgress()
  const { knowledge_base_id: id, documents, folders, attachments, failed } = result
  out.answer(result, () =>
    out.line(`Knowledge base ${id}: ${documents} documents, ${folders} folders, ${attachments} files.`),
  )
  if (failed.length === 0) return
  throw new Failure('failed', 'not_imported', {
    message: `${failed.length} things were not imported.`,
    hint: 'The same command tries them again.',
  })
}

// What the service refuses is told as in other commands. The other errors of an import are for the person as they are.
function told({ cause, message }: Error): Error {
  if (cause instanceof KnowledgeBaseError) return cause
  return new Failure('failed', 'import_failed', { message })
}

function progressOn(out: Output) {
  let [part, done, total] = ['', 0, 0]
  return {
    begin(label: string, items: number) {
      ;[part, done, total] = [label, 0, items]
    },
    step() {
      done += 1
      out.progress(`${part}: ${done} of ${total}`)
    },
    tell: (message: string) => out.note(message),
  }
}
