import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { isConflictCopy } from '../../../shared/cli/sync/paths.ts'
import { eventSequencer } from '../../../workers/events.ts'
import { commandLine } from '../../support/command-line.ts'
import { isLong } from '../../support/run-options.ts'
import { runsTimes } from '../../support/runs.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { startWorkers } from '../../support/workers.ts'

/* Programs write into a watched folder as real programs do, while others change the documents. No line may be lost. */

const service = await startTestService(t)
await startWorkers(t, service, [eventSequencer])
const ada = await service.signUp()

type Writer = { kind: (typeof kinds)[number]; lines: number; pauses: number[]; isAnswered: boolean }
const kinds = [
  'open handle',
  'tee',
  'truncate and write in parts',
  'rename',
  'open and close',
  'logger that rotates',
] as const
const longestPause = isLong ? 5000 : 1200

const writers = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    lines: fc.integer({ min: 2, max: 8 }),
    pauses: fc.array(fc.oneof(fc.constant(0), fc.nat(300), fc.nat(longestPause)), { minLength: 3, maxLength: 8 }),
    // Whether somebody else writes into the document after each second line, so that the file is replaced.
    isAnswered: fc.boolean(),
  }),
  { minLength: 4, maxLength: 6 },
)

t.test('no line that a program writes into a watched folder is lost, however it writes', async (t) => {
  const property = fc.asyncProperty(writers, async (writers) => {
    const base: number = (await ada.post('/knowledge-bases', { name: 'Logs' })).body.data.id
    const cli = commandLine(t, { origin: service.origin, token: ada.bearer ?? '' })
    const root = join(cli.directory, `logs-${base}`)
    mkdirSync(root)
    const running = cli.start(['sync', root, String(base), '--watch', '--json'])
    writeFileSync(join(root, 'First.md'), 'First\n')
    while (!running.printed().out.includes('"create"') && running.child.exitCode === null) await sleep(20)
    const written = await Promise.all(
      writers.map((writer, index) => write(writer, { root, name: `log-${index}`, base })),
    )
    const lines = written.flat()
    for (let rest = 200; ; rest -= 1) {
      // What a program has written anew into a replaced file is in the copy of a conflict.
      const there = (await textsThere(base)) + textsOf(root, isConflictCopy)
      const here = textsOf(root, (name) => name.endsWith('.md'))
      const lost = lines.filter((line) => !there.includes(line) || !here.includes(line))
      if (lost.length === 0) break
      if (running.child.exitCode !== null || rest === 0) {
        throw new Error(`lost: ${lost.join()} of\n${here}\n--- there\n${there}\n${JSON.stringify(running.printed())}`)
      }
      await sleep(100)
    }
    running.child.kill('SIGINT')
    await running.ended
  })
  await fc.assert(property, { ...runsTimes(1 / 12), endOnFailure: true })
  t.pass('every line is in a document and in a file')
})

/** Writes the lines of one writer. Returns them. */
async function write(
  { kind, lines, pauses, isAnswered }: Writer,
  { root, name, base }: { root: string; name: string; base: number },
): Promise<string[]> {
  const all = Array.from({ length: lines }, (_, line) => `${name} line ${line}.`)
  const file = join(root, `${name}.md`)
  const handle = kind === 'open handle' ? await open(file, 'a') : kind === 'tee' ? await open(file, 'w') : null
  for (const [index, line] of all.entries()) {
    if (kind === 'truncate and write in parts') await writeInParts(file, all.slice(0, index + 1), pauses)
    else if (kind === 'rename') save(file, `${textsOf(root, (other) => other === `${name}.md`)}\n${line}\n`)
    else if (kind === 'open and close') appendFileSync(file, `\n${line}\n`)
    else if (kind === 'logger that rotates') {
      if (index % 3 === 2) renameSync(file, join(root, `${name}-until-${index}.md`))
      appendFileSync(file, `\n${line}\n`)
    } else await handle?.write(`\n${line}\n`)
    await sleep(pauses[index % pauses.length] ?? 0)
    if (isAnswered && index % 2 === 1) await answer(base, name, `An answer to line ${index}.`)
  }
  await handle?.close()
  return all
}

function save(file: string, text: string): void {
  writeFileSync(`${file}.part`, text)
  renameSync(`${file}.part`, file)
}

// Writes a file anew as a slow program does: it keeps the file open meanwhile.
async function writeInParts(file: string, lines: readonly string[], pauses: readonly number[]): Promise<void> {
  const handle = await open(file, 'w')
  for (const [index, line] of lines.entries()) {
    await handle.write(`\n${line}\n`)
    if (index % 3 === 1) await sleep((pauses[index % pauses.length] ?? 0) / 2)
  }
  await handle.close()
}

// Writes a line at the beginning of a document. Somebody else may be first, or the document may not be there yet.
async function answer(base: number, title: string, line: string): Promise<void> {
  const { data } = (await ada.get(`/documents?knowledge_base_id=${base}&limit=100`)).body
  const id = data.find((document: { title: string }) => document.title === title)?.id
  if (id === undefined) return
  const { body } = await ada.get(`/documents/${id}/content?format=markdown&annotate=anchors`)
  const content = { format: 'markdown', content: `${line}\n\n${body.data.content}` }
  await ada.put(`/documents/${id}/content`, content, { 'if-match': `"${body.data.version}"` })
}

async function textsThere(base: number): Promise<string> {
  const { data } = (await ada.get(`/documents?knowledge_base_id=${base}&limit=100`)).body
  const contents = (data as { id: string }[]).map(({ id }) => ada.get(`/documents/${id}/content?format=markdown`))
  return (await Promise.all(contents)).map(({ body }) => body.data?.content ?? '').join('\n')
}

function textsOf(root: string, isWanted: (name: string) => boolean): string {
  const names = readdirSync(root).filter(isWanted)
  return names.map((name) => readFileSync(join(root, name), 'utf8')).join('\n')
}
