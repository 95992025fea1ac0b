import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import GithubSlugger from 'github-slugger'
import type { Nodes, Root } from 'mdast'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import { describeApi } from '../../api/docs/openapi.ts'
import { writeReference } from '../../api/docs/reference.ts'
import { guideSectionOf, statusesOf } from '../../api/http/errors.ts'
import { bucketOf } from '../../api/http/route.ts'
import { guideChapters } from '../../api/http/tags.ts'
import { type ChapterName, chapterMarkdown, chapterNames, chapterPath } from '../../api/pages/guide/chapters.ts'
import { pageHeaders } from '../../api/pages/headers.ts'
import { routes } from '../../api/routes/routes.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import { settings } from '../../shared/config/config.ts'
import type { Setting } from '../../shared/config/settings.ts'
import { errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import { make } from '../support/documents.ts'
import { compiledCode, root } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const chapters = new Map(chapterNames.map((name) => [name, readChapter(name)]))

t.test('every chapter is a file, in the map of the first page, and its anchors are those of GitHub', async (t) => {
  const files = readdirSync(join(root, 'api/guide'))
  t.same(files.sort(), chapterNames.map((name) => `${name}.md`).sort())
  const listed = linksOf('index').filter((href) => /^[a-z-]+\.md$/.test(href))
  t.same(listed.sort(), [...files].filter((file) => file !== 'index.md').sort())
  for (const [name, { headings }] of chapters) {
    t.equal(headings.filter(({ depth }) => depth === 1).length, 1, `${name} has one title`)
    t.equal(new Set(headings.map(({ anchor }) => anchor)).size, headings.length)
    // Without its title, which the page shows by itself, a chapter has the same anchors.
    const slugger = new GithubSlugger()
    for (const { depth, text, anchor } of headings)
      if (depth > 1) t.equal(slugger.slug(text), anchor, `${name} ${text}`)
  }
})

t.test('every pointer to the guide leads to a heading', async (t) => {
  const pointers = sourceFiles().flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/api\/guide\/([a-z-]+)\.md(?:#([a-z0-9-]+))?/g)].map(
      ([pointer, name, anchor]) => ({ path, pointer, name, anchor }),
    ),
  )
  t.ok(pointers.length > 0)
  for (const { path, pointer, name, anchor } of pointers) t.ok(hasPlace(name, anchor), `${path}: ${pointer}`)
  for (const [tag, name] of Object.entries(guideChapters)) t.ok(hasPlace(name, undefined), tag)
})

t.test('every code that an error explains by the guide is named where its address leads', async (t) => {
  for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
    const [name = '', anchor] = guideSectionOf(code)?.split('#') ?? []
    if (name !== '') t.match(sectionText(name, anchor), `\`${code}\``, `${name}#${anchor} names ${code}`)
  }
})

t.test('settings, codes, endpoints and members of the guide are those of the service', async (t) => {
  const description = JSON.stringify(describeApi({ routes, origin: 'https://documents.example' }))
  const config = Object.fromEntries(Object.entries<Setting<unknown>>(settings).map(([name, s]) => [name, s.fallback]))
  const reference = writeReference({ routes, config: config as never }) + description
  const warnings = readFileSync(join(root, 'shared/body/document.ts'), 'utf8')
  const live = ['denial', 'save-status'].map((name) => readFileSync(join(root, `api/collab/${name}.ts`), 'utf8'))
  // The names of OAuth, as programs send and get them.
  const oauth = ['support/oauth-program', 'sign-in/oauth/requests.test', 'sign-in/oauth/registration.test'].map(
    (name) => readFileSync(join(root, `test/${name}.ts`), 'utf8'),
  )
  // The members of a message to the MCP endpoint, which the protocol names.
  const protocol = 'jsonrpc method params arguments'
  const service = new Set([reference, warnings, ...live, ...oauth, protocol].join('\n').match(words))
  // The chapters for operators name parameters of PostgreSQL, metrics and members of log lines.
  const operators = new Set([
    ...service,
    ...['shared/', 'workers/', 'api/', 'sql/'].flatMap((at) => [...wordsBelow(at)]),
  ])
  // The chapters of the command line and of the client also tell codes and variables of their own.
  const programs: Partial<Record<ChapterName, Set<string>>> = {
    'command-line': new Set([...service, ...wordsBelow('shared/cli/')]),
    programs: new Set([...service, ...wordsBelow('shared/client/')]),
    deployment: operators,
    monitoring: operators,
    maintenance: operators,
  }
  const paths = [...routes.map(({ path }) => path), '/auth/device/code']
  for (const [name, { text, code, examples }] of chapters) {
    const known = programs[name] ?? service
    const isSetting = (span: string) => span in settings || (name in programs && known.has(span))
    for (const span of code) {
      if (/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(span)) t.ok(isSetting(span), `${name}: setting ${span}`)
      if (/^[a-z]+(_[a-z]+)+$/.test(span)) t.ok(known.has(span), `${name}: ${span}`)
      const [, method, path = ''] = /^(GET|POST|PUT|PATCH|DELETE) ([/…][^?]*)/.exec(span) ?? []
      const isServed = (spec: (typeof routes)[number]) => spec.method === method && endsAs(spec.path, path)
      if (method !== undefined) t.ok(routes.some(isServed), `${name}: ${span}`)
      if (/^\/(documents|folders|knowledge-bases|auth)/.test(span))
        t.ok(
          paths.some((served) => endsAs(served, span.split('?')[0] ?? '')),
          `${name}: ${span}`,
        )
    }
    for (const [, status, span = ''] of text.matchAll(/\b([45]\d\d) `([a-z_]+)`/g)) {
      t.ok(
        span in errorCatalogue && statusesOf(span as ErrorCode).includes(Number(status)),
        `${name}: ${status} ${span}`,
      )
    }
    for (const [span, setting = '', value] of text.matchAll(/`([A-Z0-9_]+)` \((\d+)\)/g)) {
      t.equal(String(config[setting]), value, `${name}: ${span}`)
    }
    for (const row of text.matchAll(/^\| ([^|\n]+)\|((?: [^|\n]+\|)*) `([A-Z][A-Z0-9_]*)` \|/gm)) {
      const [, what = '', cells = '', setting = ''] = row
      t.match(`${what}${cells}`.match(/\d+/g), [String(config[setting])], `${name}: ${setting}`)
    }
    for (const member of examples.matchAll(/"([a-z]+(?:_[a-z]+)*)":/g)) {
      t.ok(known.has(member[1] ?? ''), `${name}: member ${member[1]}`)
    }
  }
})

t.test('the guide leaves out no scope, status, cause or predicate that callers meet', async (t) => {
  const { components } = describeApi({ routes, origin: 'https://documents.example' }) as {
    components: { schemas: Record<string, { properties: Record<string, object> }> }
  }
  const values = (schema: string, member: string) => {
    const found = JSON.stringify(components.schemas[schema]?.properties[member]).match(/"enum":(\[[^\]]*\])/)?.[1]
    return JSON.parse(found ?? '[]') as string[]
  }
  const told = [
    { place: 'authentication#scopes', names: scopes },
    { place: 'translation#statuses', names: values('TranslationUnit', 'status') },
    { place: 'translation#members', names: values('LocalizedDocument', 'workflow_status') },
    { place: 'relations#predicates', names: values('RelationCreateInput', 'predicate') },
    { place: 'relations#freshness', names: values('DocumentRelation', 'status') },
    { place: 'concepts#hierarchy', names: values('ConceptRelation', 'predicate') },
    { place: 'concepts#evidence', names: values('ConceptEvidence', 'freshness') },
    { place: 'concepts#candidates', names: values('ConceptCandidate', 'review_status') },
    { place: 'summaries#levels', names: values('Summary', 'status') },
    { place: 'jobs#states', names: [...values('SummaryJob', 'status'), ...values('TranslationJob', 'status')] },
    { place: 'jobs#obsolescence', names: values('SummaryJob', 'obsolete_reason') },
    { place: 'jobs#obsolescence', names: values('TranslationJob', 'obsolete_reason') },
    { place: 'changes#waiting', names: values('DocumentChanges', 'freshness') },
    { place: 'limits#rates', names: new Set(routes.map(bucketOf)) },
  ]
  for (const { place, names } of told) {
    const [name = '', anchor] = place.split('#')
    t.ok([...names].length > 1, place)
    for (const value of names) t.match(sectionText(name, anchor), `\`${value}\``, `${place} names ${value}`)
  }
})

t.test('no sentence of the guide is longer than a reader can hold', async (t) => {
  for (const [name, { sentences }] of chapters) {
    for (const sentence of sentences) t.ok(sentence.split(/\s+/).length <= 25, `${name}: ${sentence}`)
  }
})

t.test('people read each chapter as a page, agents as Markdown, and every link leads somewhere', async (t) => {
  const { origin } = await sharedService()
  const pages = new Map<string, string>()
  const open = async (path: string) => {
    if (!pages.has(path)) {
      const answer = await fetch(origin + path)
      t.equal(answer.status, 200, path)
      pages.set(path, await answer.text())
    }
    return pages.get(path) ?? ''
  }
  for (const [name, { headings, markdown }] of chapters) {
    const page = await fetch(origin + chapterPath(name))
    const html = await page.text()
    t.match(page.headers.get('content-type'), 'text/html')
    t.equal(page.headers.get('content-security-policy'), pageHeaders()['Content-Security-Policy'])
    for (const { depth, anchor } of headings) if (depth > 1) t.match(html, `id="${anchor}"`, `${name}#${anchor}`)
    const text = await fetch(`${origin}/guide/${name}.md`)
    t.equal(text.headers.get('content-type'), 'text/markdown; charset=utf-8')
    t.equal(await text.text(), markdown)
    for (const { url, headers } of [page, text]) {
      t.equal(headers.get('cache-control'), 'no-cache')
      const known = { 'if-none-match': headers.get('etag') ?? '' }
      t.equal((await fetch(url, { headers: known })).status, 304, url)
    }
    for (const [, href = ''] of html.matchAll(/href="([^"]+)"/g)) {
      const target = new URL(href, origin + chapterPath(name))
      t.equal(target.origin, origin, `${name}: ${href} stays here`)
      const linked = await open(target.pathname + target.search)
      const anchor = target.hash.slice(1)
      if (anchor === '') continue
      const isThere = linked.includes(`id="${anchor}"`) || anchorsOf(linked).includes(anchor)
      t.ok(isThere, `${name}: ${href}`)
    }
    for (const href of linksOf(name))
      if (/\.md/.test(href) && !href.startsWith('/')) t.ok(hasPlace(...placeOf(href)), href)
  }
  t.equal((await fetch(`${origin}/guide/index`, { redirect: 'manual' })).headers.get('location'), '/guide')
  for (const path of ['/guide/nowhere', '/guide/nowhere.md', '/guide/writes.txt', '/guide/..%2FREADME.md']) {
    t.equal((await fetch(origin + path)).status, 404, path)
  }
})

t.test('every example of the guide for the shell runs as it stands', onlyLong, async (t) => {
  const service = await sharedService({ OPENAI_API_KEY: 'none', SUMMARY_MODEL: 'none' })
  const client = await service.signUp()
  const directory = await mkdtemp(join(tmpdir(), 'documents-guide-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const programs = await programsIn(directory)
  const [prelude = ''] = shellBlocks('index')
  for (const name of chapterNames) {
    for (const block of shellBlocks(name)) {
      const { body: base } = await client.post('/knowledge-bases', { name: 'Zoo' })
      const { body: folder } = await client.post('/folders', { name: 'Mammals', knowledge_base_id: base.data.id })
      const { id, version } = await make(client, sample)
      const { body: blocks } = await client.get(`/documents/${id}/blocks`)
      const [heading, paragraph] = blocks.data
      await client.delete(`/documents/${(await make(client, sample)).id}`)
      const { body: trash } = await client.get('/trash?limit=1')
      const env = {
        PATH: `${programs}:${process.env['PATH']}`,
        ...compiledCode,
        ...{ ORIGIN: service.origin, TOKEN: client.token, DOCUMENT: id, VERSION: version },
        ...{ KB_ORIGIN: service.origin, KB_TOKEN: client.token },
        ...{ KNOWLEDGE_BASE: String(base.data.id), FOLDER: String(folder.data.id) },
        ENTRY: trash.data[0].id,
        ...{ HEADING: heading.block_id, BLOCK: paragraph.block_id, BLOCK_HASH: paragraph.hash },
      }
      const run = promisify(execFile)('sh', ['-eu', '-c', `${prelude}\n${block}`], { env, cwd: directory })
      await t.resolves(run, `${name}: ${block}`)
    }
  }
})

// A folder with the program of the command line under its name, as an installation makes it.
async function programsIn(directory: string): Promise<string> {
  const folder = join(directory, 'bin')
  await mkdir(folder)
  const main = join(root, 'shared/cli/main.ts')
  await writeFile(join(folder, 'knowledge-base'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
    mode: 0o755,
  })
  return folder
}

const sample = [
  { type: 'heading', attrs: { level: 1 }, content: [{ type: 'text', text: 'Water' }] },
  { type: 'paragraph', content: [{ type: 'text', text: 'An elephant drinks a hundred litres a day.' }] },
]

const words = /[A-Za-z][A-Za-z0-9_]*/g

function wordsBelow(folder: string): Set<string> {
  const sources = sourceFiles().filter((path) => path.startsWith(join(root, folder)))
  return new Set(sources.flatMap((path) => readFileSync(path, 'utf8').match(words) ?? []))
}

type Heading = { depth: number; text: string; anchor: string; offset: number }

function readChapter(name: ChapterName) {
  const markdown = chapterMarkdown(name)
  const tree = remark().use(remarkGfm).parse(markdown)
  const nodes = [...nodesOf(tree)]
  const slugger = new GithubSlugger()
  const headings = nodes.flatMap((node): Heading[] => {
    if (node.type !== 'heading') return []
    const text = plain(node)
    return [{ depth: node.depth, text, anchor: slugger.slug(text), offset: node.position?.start.offset ?? 0 }]
  })
  const blocks = nodes.flatMap((node) => (node.type === 'code' ? [node] : []))
  return {
    markdown,
    tree,
    headings,
    shell: blocks.flatMap(({ lang, value }) => (lang === 'sh' ? [value] : [])),
    examples: blocks.map(({ value }) => value).join('\n'),
    code: nodes.flatMap((node) => (node.type === 'inlineCode' ? [node.value] : [])),
    text: markdown.replaceAll(/\n(?![\n|#-])/g, ' ').replaceAll(/^ *```.*?^ *```/gms, ''),
    sentences: nodes
      .filter(({ type }) => type === 'paragraph' || type === 'tableCell')
      .flatMap((node) => plain(node).split(/(?<=[.!?:;])\s+/)),
  }
}

function* nodesOf(node: Nodes): Generator<Nodes> {
  yield node
  if ('children' in node) for (const child of node.children) yield* nodesOf(child)
}

// Code counts as one word, whatever it holds.
function plain(node: Nodes): string {
  if (node.type === 'inlineCode') return node.value.replaceAll(/\s+/g, '_')
  if ('children' in node) return node.children.map(plain).join('')
  return 'value' in node ? node.value : ''
}

function shellBlocks(name: ChapterName): readonly string[] {
  return chapters.get(name)?.shell ?? []
}

function linksOf(name: ChapterName): string[] {
  const tree = chapters.get(name)?.tree as Root
  return [...nodesOf(tree)].flatMap((node) => (node.type === 'link' ? [node.url] : []))
}

function placeOf(href: string): [string | undefined, string | undefined] {
  const [file = '', anchor] = href.split('#')
  return [file.replace(/\.md$/, ''), anchor]
}

function hasPlace(name: string | undefined, anchor: string | undefined): boolean {
  const chapter = chapters.get(name as ChapterName)
  return (
    chapter !== undefined && (anchor === undefined || chapter.headings.some((heading) => heading.anchor === anchor))
  )
}

function sectionText(name: string, anchor: string | undefined): string {
  const { markdown = '', headings = [] } = chapters.get(name as ChapterName) ?? {}
  const index = headings.findIndex((heading) => heading.anchor === anchor)
  return index < 0 ? '' : markdown.slice(headings[index]?.offset, headings[index + 1]?.offset)
}

// Of a Markdown text, as GitHub makes them.
function anchorsOf(markdown: string): string[] {
  const slugger = new GithubSlugger()
  return [...markdown.matchAll(/^#{1,6} (.+)$/gm)].map(([, text = '']) => slugger.slug(text))
}

// Whether a path of the table is meant, whatever its parameters are called; `…` stands for any beginning.
function endsAs(path: string, named: string): boolean {
  const form = (text: string) => text.replaceAll(/\{\w+\}/g, '{}')
  return named.startsWith('…') ? form(path).endsWith(form(named.slice(1))) : form(path) === form(named)
}

function sourceFiles(): string[] {
  const folders = ['api', 'shared', 'workers', 'test', 'sql']
  const inside = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(root, folder, path)),
  )
  const named = ['README.md', 'CONTRIBUTING.md'].map((path) => join(root, path))
  return [...inside, ...named].filter((path) => /\.(ts|md|sql|eta|css|js)$/.test(path))
}
