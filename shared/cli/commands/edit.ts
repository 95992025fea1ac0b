import { hasMarkers, withMarkers } from '../editing/conflict-markers.ts'
import { type Base, type Copy, Draft } from '../editing/drafts.ts'
import { openEditor } from '../editing/editor.ts'
import { type Cli, type Context, examples, type IdPolicy, idsOption } from '../frame/command.ts'
import type { Connection } from '../frame/connection.ts'
import { tell, toldOf } from '../frame/errors.ts'
import { Failure } from '../frame/failures.ts'
import { documentNamed } from '../frame/names.ts'
import { type ReadBody, readBodyOf } from '../sync/answers.ts'

/** `edit`: changes a document in the editor of the person. */
export function registerEdit({ program, run }: Cli): void {
  program
    .command('edit')
    .argument('[document]', 'id, svc://doc/…, address of the page, or path')
    .summary('change a document in your editor')
    .description(
      'Opens a document as Markdown in VISUAL or EDITOR, and stores what you have written when the editor ends. Lines ' +
        'such as "<!-- block=… -->" tell the service which block is which: leave them above their blocks. What others ' +
        'have changed meanwhile is merged block by block. Where both have changed a block, the editor shows both ' +
        'versions. Your text stays in a file until it is stored.',
    )
    .option('--resume <file>', 'go on with the text that an edit has left in a file')
    .addOption(idsOption())
    .addHelpText(
      'after',
      examples(
        ['edit Zoo/Mammals/Elephants', 'change a document'],
        ["EDITOR='code --wait' knowledge-base edit doc_01J9Z3V5K8", 'with another editor'],
        ['edit --resume /tmp/knowledge-base-edit-x1y2z3/Elephants.md', 'go on after a conflict or a failure'],
      ),
    )
    .action((name: string | undefined, options: Options) => run((context) => edit(context, name, options)))
}

type Options = { resume?: string; ids: IdPolicy }

async function edit(context: Context, name: string | undefined, { resume, ids }: Options): Promise<void> {
  if ((name === undefined) === (resume === undefined)) {
    throw new Failure('usage', 'usage', {
      message: 'Name a document, or with --resume the file of an unfinished edit.',
    })
  }
  const connection = await context.connect()
  const draft = resume === undefined ? await begin(connection, String(name)) : await Draft.resume(resume)
  if (draft.base.origin !== connection.origin) {
    throw new Failure('usage', 'other_service', {
      message: `The text belongs to ${draft.base.origin}.`,
      hint: 'Name the service with --origin.',
    })
  }
  const forget = context.interrupts.onInterrupt(() => interrupted(context, draft))
  try {
    const { version, stored } = await untilStored(context, { connection, draft, ids })
    await draft.remove()
    const answer = { document_id: draft.base.document_id, version, changed: stored, copies: draft.copies }
    context.out.answer(answer, () => tellStored(context, { stored, copies: draft.copies }))
  } catch (error) {
    if (isEditorReturned(error) || (await draft.hasChanges())) throw withDraft(error, draft)
    await draft.remove()
    throw error
  } finally {
    forget()
  }
}

function tellStored({ out }: Context, { stored, copies }: { stored: boolean; copies: Copy[] }): void {
  const end = copies.length > 0 ? 'Stored. But the document cannot keep everything that you have written.' : 'Stored.'
  out.line(stored ? end : 'Nothing has changed.')
  for (const line of linesOf(copies)) out.line(line)
}

function linesOf(copies: readonly Copy[]): string[] {
  return copies.flatMap(({ file, losses }) => [...losses, `Your whole text is in ${file}`])
}

async function interrupted({ out }: Context, draft: Draft): Promise<void> {
  if (!(await draft.hasChanges())) return draft.remove()
  const message = 'The edit was interrupted before it was known that the text is stored.'
  tell(withDraft(new Failure('interrupted', 'interrupted', { message }), draft), out)
}

async function begin(connection: Connection, name: string): Promise<Draft> {
  const { id } = await documentNamed(connection, name)
  const { data } = await connection.service.api.GET('/documents/{id}', { params: { path: { id } } })
  return Draft.begin(await currentBase(connection, id), data.title)
}

async function currentBase({ service, origin }: Connection, id: string): Promise<Base> {
  const query = { format: 'markdown', annotate: 'anchors' } as const
  const { data } = await service.api.GET('/documents/{id}/content', { params: { path: { id }, query } })
  const { version, content = '' } = data
  return { origin, document_id: id, version, markdown: content }
}

type Storing = { connection: Connection; draft: Draft; ids: IdPolicy }

// Opens the editor until the service has the text: once, and again after each conflict that a person can look at.
async function untilStored(
  { out, env, interrupts }: Context,
  { connection, draft, ids }: Storing,
): Promise<{ version: string; stored: boolean }> {
  for (;;) {
    const begun = performance.now()
    await interrupts.held(() => openEditor(draft.file, env))
    const isUnchanged = !(await draft.hasChanges())
    if (isUnchanged && process.stdin.isTTY && performance.now() - begun < instantMs) throw editorReturned()
    if (isUnchanged) return { version: draft.base.version, stored: false }
    const { version, conflicts } = await store({ connection, draft, ids })
    if (version !== null) return { version, stored: true }
    const count = `${conflicts} ${conflicts === 1 ? 'block' : 'blocks'}`
    const message = `Somebody else has changed ${count} that you have changed, too. Both versions are in your text, between <<<<<<< and >>>>>>>.`
    if (!process.stdin.isTTY || !out.isTerminal) throw new Failure('conflict', 'edit_conflict', { message })
    out.note(message)
  }
}

// No person reads a text and closes an editor so fast: the program has opened a window and not waited. Milliseconds.
const instantMs = 1000

function editorReturned(): Failure {
  return new Failure('failed', 'editor_returned', {
    message: 'The editor ended at once, and the text is as before.',
    hint: 'If its window is still open, save there before you go on. Let EDITOR wait the next time, such as "code --wait".',
  })
}

function isEditorReturned(error: unknown): boolean {
  return error instanceof Failure && error.code === 'editor_returned'
}

// The most merges of one edit: somebody who writes without a pause would otherwise be merged with for ever.
const mostMerges = 20

// Stores the text against the version that it was made from. Merges what others have stored meanwhile, or what an
// attempt of this edit whose answer was lost has stored. When a merge has conflicts, nothing is stored, and the file
// shows both versions.
async function store({
  connection,
  draft,
  ids,
}: Storing): Promise<{ version: string; conflicts: 0 } | { version: null; conflicts: number }> {
  for (let merges = 0; ; merges += 1) {
    const markdown = await draft.text()
    requireWritten(markdown, draft.base)
    const { document_id: id, version } = draft.base
    try {
      const { data: stored } = await connection.service.api.PUT('/documents/{id}/content', {
        params: { path: { id }, query: { ids }, header: { 'If-Match': version } },
        body: { format: 'markdown', content: markdown },
      })
      await draft.keepLost(markdown, readBodyOf(stored).losses)
      return { version: stored.version, conflicts: 0 }
    } catch (error) {
      if (toldOf(error).code !== 'version_conflict' || merges === mostMerges) throw error
    }
    const theirs = await currentBase(connection, id)
    // The merge of bodies reads front matter, which takes libraries that no other part of the command needs.
    const { mergeBodies } = await import('../sync/document-merge.ts')
    const merge = await mergeBodies(
      {
        base: { body: draft.base.markdown },
        theirs: { body: theirs.markdown },
        rehearse: async (text) => {
          const read = await rehearsed(connection, { id, text, ids })
          await draft.keepLost(text, read.losses)
          return read.markdown
        },
      },
      markdown,
    )
    await draft.write(withMarkers(merge))
    await draft.rebase(theirs)
    if (merge.conflicts.length > 0) return { version: null, conflicts: merge.conflicts.length }
  }
}

// The text as the service would write it as the body of the document.
type Rehearsal = { id: string; text: string; ids: IdPolicy }

async function rehearsed({ service }: Connection, { id, text, ids }: Rehearsal): Promise<ReadBody> {
  const { data } = await service.api.PUT('/documents/{id}/content', {
    params: { path: { id }, query: { annotate: 'anchors', ids, dry_run: true }, header: { 'If-Match': '*' } },
    body: { format: 'markdown', content: text },
  })
  return readBodyOf(data)
}

function requireWritten(markdown: string, base: Base): void {
  if (markdown.trim() === '') {
    throw new Failure('failed', 'empty_text', { message: 'The text is empty, so nothing was stored.' })
  }
  // A document can be about version control, and have such lines itself.
  if (hasMarkers(markdown) && !hasMarkers(base.markdown)) {
    throw new Failure('conflict', 'edit_conflict', {
      message:
        'The text still has the marks of a conflict. Choose a version, and remove the lines with <<<<<<<, ======= and >>>>>>>.',
    })
  }
}

// The failure of an edit whose text is not stored. It says where the text is.
function withDraft(error: unknown, { file, copies }: Draft): Failure {
  const { kind, code, message, lines = [], hint, details } = toldOf(error)
  return new Failure(kind, code, {
    message,
    lines: [...lines, ...(hint === undefined ? [] : [hint]), ...linesOf(copies), `Your text is in ${file}`],
    hint: `Go on with: knowledge-base edit --resume ${quoted(file)}`,
    details: { ...(typeof details === 'object' ? details : {}), file, ...(copies.length > 0 && { copies }) },
  })
}

// As a shell takes the path.
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
