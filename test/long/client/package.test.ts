import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { eventSequencer } from '../../../workers/events.ts'
import { root } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { startWorkers } from '../../support/workers.ts'

const run = promisify(execFile)
const service = await startTestService(t)
const { origin, signUp } = service
await startWorkers(t, service, [eventSequencer])

/** The folder of a program with the package, the packed tree, and the package.json of the tree before and after. */
const { home, copy, manifests } = await install()

t.test('the package has the client and the command line as JavaScript, and nothing of the service', async (t) => {
  t.equal(manifests[1], manifests[0], 'packing leaves the tree as it was')
  const installed = join(home, 'node_modules/knowledge-base-documents')
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
  t.notOk(files.some((name) => name.endsWith('.ts') && !name.endsWith('.d.ts')))
  t.notOk(files.some((name) => /^(api|workers|shared|test|sql)/.test(name)))
  const { dependencies, scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  t.strictSame([Object.keys(dependencies), scripts], [['eventsource-parser', 'openapi-fetch'], undefined])
})

t.test('a packing that was interrupted is undone, and never brings an old package.json back', async (t) => {
  const manifest = join(copy, 'package.json')
  const restore = () => run(process.execPath, [join(copy, 'shared/packaging/pack-command.ts'), '--restore'])
  const [before = ''] = manifests
  const interrupt = () => run(process.execPath, [join(copy, 'shared/packaging/pack-command.ts')])
  await interrupt()
  t.not(readFileSync(manifest, 'utf8'), before)
  await restore()
  t.equal(readFileSync(manifest, 'utf8'), before)
  await interrupt()
  const newer = before.replace(/"version": "[^"]*"/, '"version": "99.0.0"')
  writeFileSync(manifest, newer)
  await restore()
  t.equal(readFileSync(manifest, 'utf8'), newer, 'what somebody has repaired and changed since stays')
  await restore()
  t.equal(readFileSync(manifest, 'utf8'), newer)
})

t.test('an installed client works and its types are strict', async (t) => {
  const { token } = await signUp()
  writeFileSync(join(home, 'program.ts'), program)
  for (const options of [
    {
      module: 'nodenext',
      moduleResolution: 'nodenext',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    { module: 'esnext', moduleResolution: 'bundler', types: [], lib: ['es2023', 'dom', 'dom.iterable'] },
  ]) {
    const compilerOptions = {
      ...options,
      target: 'es2023',
      strict: true,
      exactOptionalPropertyTypes: true,
      outDir: 'out',
    }
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['program.ts'] }))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(process.execPath, [compiler], { cwd: home }).catch((error) => error)
    t.equal(stdout, '', options.moduleResolution)
  }
  const { stdout } = await run(process.execPath, ['out/program.js'], {
    cwd: home,
    env: { ORIGIN: origin, TOKEN: token },
  })
  t.match(JSON.parse(stdout), { titles: ['Elephants'], code: 'document_not_found' })
})

t.test('an installed command line works, also under a Node without the newest functions', async (t) => {
  const { token } = await signUp()
  const older = 'data:text/javascript,delete Map.groupBy;delete URL.parse;delete Array.fromAsync'
  const words = ['--import', older, join(home, 'node_modules/.bin/knowledge-base')]
  const env = { KB_ORIGIN: origin, KB_TOKEN: token, HOME: home }
  const { stdout } = await run(process.execPath, [...words, 'bases', '--json'], { cwd: home, env })
  t.strictSame(JSON.parse(stdout), [])
  const assistant = new Client({ name: 'Local assistant', version: '1.0.0' })
  t.teardown(() => assistant.close())
  const started = { command: process.execPath, args: [...words, 'mcp'], cwd: home, env }
  await assistant.connect(new StdioClientTransport(started))
  const { tools } = await assistant.listTools()
  t.ok(
    tools.some(({ name }) => name === 'whoami'),
    'it serves the tools to a local MCP client',
  )
})

t.test('whoever copies the program of the README ends with an edited document', async (t) => {
  const client = await signUp()
  const [, section = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('\n## Programs\n')
  const [program = ''] = typeScriptBlocks(section)
  writeFileSync(join(home, 'zoo.ts'), program)
  const { stdout } = await run(process.execPath, ['zoo.ts'], {
    cwd: home,
    env: { ORIGIN: origin, TOKEN: client.token },
  })
  t.match(stdout, /^Elephants sha256:[0-9a-f]{64}\n$/)
  const { body } = await client.get('/documents')
  const content = await client.get(`/documents/${body.data[0].id}/content?format=markdown`)
  t.equal(content.body.data.content, 'An elephant drinks two hundred litres a day.\n')
})

t.test('every example of the guide for programs runs as it stands', async () => {
  const { token } = await signUp()
  const [first = '', ...others] = typeScriptBlocks(readFileSync(join(root, 'api/guide/programs.md'), 'utf8'))
  writeFileSync(join(home, 'guide.ts'), [first, ...others.map((block) => `{\n${block}}`)].join('\n'))
  const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }
  const compilerOptions = { ...types, module: 'nodenext', target: 'es2023', strict: true, noEmit: true }
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['zoo.ts', 'guide.ts'] }))
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd: home })
  await run(process.execPath, ['guide.ts'], { cwd: home, env: { ORIGIN: origin, TOKEN: token } })
})

function typeScriptBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

// The lines with an error are refused by the types, which the compiler checks by these comments.
const program = `
import { type components, KnowledgeBase, KnowledgeBaseError } from 'knowledge-base-documents/client'

declare const process: { env: Record<string, string | undefined> }

const kb = new KnowledgeBase({ origin: String(process.env['ORIGIN']), token: String(process.env['TOKEN']) })
const made = await kb.api.POST('/documents', {
  body: { title: 'Elephants', content: { format: 'markdown', content: 'They drink.' } },
})
const document: components['schemas']['Document'] = made.data
const titles: string[] = []
for await (const { title } of kb.items('/documents')) titles.push(title)
const { code } = await kb.api
  .GET('/documents/{id}', { params: { path: { id: 'doc_none' } } })
  .then(() => ({ code: 'none' }), (error: unknown) => error as KnowledgeBaseError)
console.log(JSON.stringify({ titles, code }))

export async function refusedByTypes(): Promise<void> {
  // @ts-expect-error Path not found.
  await kb.api.GET('/document')
  // @ts-expect-error The path needs its parameter.
  await kb.api.GET('/documents/{id}', {})
  // @ts-expect-error A guard is missing.
  await kb.api.PUT('/documents/{id}/content', { params: { path: { id: document.id } }, body: { format: 'markdown', content: '' } })
  // @ts-expect-error A body has no such member.
  await kb.api.POST('/knowledge-bases', { body: { title: 'Zoo' } })
  // @ts-expect-error This is no list.
  for await (const item of kb.items('/me')) console.log(item)
  // @ts-expect-error An answer has no such member.
  console.log(made.data.name)
}
`

/** Packs a copy of the tree, since packing changes files of the tree, and installs it without a network. */
async function install(): Promise<{ home: string; copy: string; manifests: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'documents-package-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const copy = join(folder, 'copy')
  mkdirSync(copy)
  for (const name of ['package.json', 'tsconfig.json', 'README.md', 'LICENSE', 'shared']) {
    cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  // As after `npm ci`: what programs have put there since stays out.
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  }
  const before = readFileSync(join(copy, 'package.json'), 'utf8')
  await run('npm', ['pack', '--pack-destination', folder], { cwd: copy })
  const after = readFileSync(join(copy, 'package.json'), 'utf8')
  for (const name of ['eventsource-parser', 'openapi-fetch', 'openapi-typescript-helpers']) {
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
      cwd: join(root, 'node_modules', name),
    })
  }
  const home = join(folder, 'home')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }')
  const archives = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  await run('npm', ['install', '--offline', '--no-audit', ...archives.map((name) => join(folder, name))], { cwd: home })
  return { home, copy, manifests: [before, after] }
}
