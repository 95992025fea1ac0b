import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { remark } from 'remark'
import ts from 'typescript'
import { root } from '../../support/processes.ts'
import { t } from '../../support/tap.ts'

const execute = promisify(execFile)

// The program behind `npm test`.
const runner = ['test/support/run.ts', '--reporter=tap']

// The tests that hold lists against each other, which a new endpoint or projection has to pass. They need no service.
const lists = [
  ['architecture', 'stands in the order of rooms|fits into the window|is there'],
  ['guide', 'every pointer to the guide|settings, codes, endpoints|longer than a reader'],
  ['openapi-examples', 'every operation that takes'],
  ['readme', 'lists the processes|every variable'],
  ['../start/config', 'a wrong value of any variable|every allowed value'],
] as const

t.test('whoever follows the recipes gets what works at the first run', async (t) => {
  const copy = await copyOfTree()
  t.teardown(() => rm(copy, { recursive: true, force: true }))
  const written = new Set<string>()
  const blocks = await codeBlocks()
  for (const { path, kind, text } of blocks) {
    const file = join(copy, await numbered(copy, path))
    written.add(path)
    const change = kind === 'diff' ? changed(await readFile(file, 'utf8'), { path, diff: text }) : `${text}\n`
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, change)
  }
  const sources = [...written].filter((path) => /\.(ts|cjs)$/.test(path))
  const own = blocks.flatMap(({ kind, path }) => (kind === 'ts' && path.endsWith('.test.ts') ? [path] : []))
  t.ok(own.length >= 3, 'every example has a test')
  await t.resolves(command(copy, ['node_modules/@biomejs/biome/bin/biome', 'check', ...sources]), 'style')
  // The compiler needs as much time as all the other steps together.
  if (process.env['RECIPE_TYPES'] === '1') t.same(typeErrors(copy, sources), [], 'types')
  // Recorded alone: every process that starts meanwhile would read half a file.
  const recording = [...runner, 'test/repository/openapi-examples.test.ts']
  await t.resolves(command(copy, recording, { UPDATE_EXAMPLES: '1' }), 'examples are recorded')
  for (const [name, titles] of lists) {
    await t.resolves(command(copy, [`test/repository/${name}.test.ts`], { TAP_GREP: `/${titles}/` }), name)
  }
  await t.resolves(command(copy, [...runner, ...own, 'test/trash/tables.test.ts']), 'the tests of the examples')
})

// The tree without what no process needs: dependencies are linked, data and history left out.
async function copyOfTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'documents-recipes-'))
  const left = new Set(['node_modules', '.git', '.data', '.tap'])
  for (const name of await readdir(root)) {
    if (!left.has(name)) await cp(join(root, name), join(copy, name), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

type CodeBlock = { kind: string; path: string; text: string }

// The code blocks of the recipes that name a file, in the order in which CONTRIBUTING lists the recipes.
async function codeBlocks(): Promise<CodeBlock[]> {
  const contributing = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const paths = [...contributing.matchAll(/^\| Adding .*\[`([^`]+)`\]/gm)].map(([, path = '']) => path)
  const texts = await Promise.all([...new Set(paths)].map((path) => readFile(join(root, path), 'utf8')))
  return remark()
    .parse(texts.join('\n'))
    .children.flatMap((node) =>
      node.type === 'code' && node.lang != null && node.meta != null
        ? [{ kind: node.lang, path: node.meta, text: node.value }]
        : [],
    )
}

// Replaces NNNN in the name of a migration by the next number.
async function numbered(copy: string, path: string): Promise<string> {
  if (!path.includes('NNNN')) return path
  const numbers = (await readdir(join(copy, 'sql'))).map((name) => Number.parseInt(name, 10)).filter(Number.isInteger)
  return path.replace('NNNN', String(Math.max(...numbers) + 1).padStart(4, '0'))
}

// Applies a diff without line numbers. Its parts are divided by blank lines; the old lines of a part stand in the file
// exactly once.
function changed(file: string, { path, diff }: { path: string; diff: string }): string {
  const result = diff.split('\n\n').reduce((text, part) => {
    const lines = part.split('\n')
    const side = (sign: string) =>
      lines.flatMap((line) => (line[0] === ' ' || line[0] === sign ? [line.slice(1)] : [])).join('\n')
    const [before, after] = [`\n${side('-')}\n`, `\n${side('+')}\n`]
    const places = text.split(before).length - 1
    if (places !== 1) throw new Error(`The recipes: ${path} has these lines ${places} times:${before}`)
    return text.replace(before, () => after)
  }, `\n${file}`)
  return result.slice(1)
}

// Returns the messages of the compiler about these files. The rest of the tree is read, but not checked.
function typeErrors(copy: string, paths: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(copy, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, copy)
  const files = paths.filter((path) => path.endsWith('.ts')).map((path) => join(copy, path))
  const program = ts.createProgram(files, options)
  const diagnostics = files.flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)))
  return diagnostics.map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  )
}

// Runs a program of Node in the copy. Rejects with all that it printed when it fails.
async function command(copy: string, words: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: copy, env: { ...process.env, ...env }, maxBuffer: 64 * 2 ** 20 }
  try {
    return (await execute(process.execPath, words, options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${words.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}
