import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { t } from '../support/tap.ts'

const root = new URL('../..', import.meta.url)
const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: { name: string }[]
}

t.test('every folder of shared stands in the order of rooms, so that its imports are checked', (t) => {
  const folders = readdirSync(new URL('shared', root), { withFileTypes: true })
  const loose = folders.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
  t.same(loose, [], 'no file lies loose')
  const guarded = forbidden.flatMap(({ name }) => name.match(/^(.+)-imports-no-room-above$/)?.[1] ?? [])
  // The rule of a room names the rooms above it, so the last room has none.
  const missing = folders.map(({ name }) => name).filter((name) => !guarded.includes(name))
  for (const name of missing.filter((name) => name !== 'packaging'))
    t.fail(`.dependency-cruiser.cjs: add '${name}' to rooms, behind all folders of shared that it imports`)
  t.end()
})

t.test('a comment fits into the window of its reader', (t) => {
  for (const { path, lines } of sources().filter(({ path }) => !path.endsWith('.md'))) {
    for (const [index, line] of lines.entries()) {
      const isComment = /^\s*(\/\/|\/\*|\*(?!\*)|--)/.test(line)
      if (isComment && [...line].length > 120)
        t.fail(`${path}:${index + 1} has ${[...line].length} columns, at most 120 are allowed`)
    }
  }
  t.end()
})

t.test('no comment sends a reader to a text outside the repository', (t) => {
  const texts = ['specification', 'decisions?'].join('|')
  const memo = ['(?:search|jobs|body|style)', 'memo'].join(' ')
  const pointer = new RegExp(`\\((?:${texts})(?: |\\))|\`?(?:${texts})\`? [A-D]?[0-9]|${memo}|\\(architecture\\)`, 'i')
  for (const { path, lines } of sources()) {
    for (const [index, line] of lines.entries()) {
      if (pointer.test(line)) t.fail(`${path}:${index + 1}: ${line.trim()}`)
    }
  }
  t.end()
})

// The head of a code block in CONTRIBUTING, which names the file that the reader of a recipe writes.
const exampleFile = /^```[a-z]+ .*$/gm

t.test('every file that a text of the repository names is there', (t) => {
  const named = /(?<![\w/.-])(?:api|workers|shared|test|sql)\/[\w./-]+\.(?:ts|md|sql|json)(?![\w/])/g
  for (const { path, lines } of sources()) {
    const text = lines.join('\n').replaceAll(exampleFile, '')
    const missing = [...new Set(text.match(named))].filter((name) => !existsSync(new URL(name, root)))
    for (const name of missing) if (name !== 'test/name.test.ts') t.fail(`${path} names ${name}`)
  }
  t.end()
})

t.test('every package that is installed from a registry is held against a digest', async (t) => {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
    packages: Record<string, { link?: boolean; integrity?: string }>
  }
  const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  t.same(
    installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path),
    [],
  )
})

// Released migrations are never edited, so they may keep what they say.
function sources(): { path: string; lines: string[] }[] {
  const folders = ['api', 'workers', 'shared', 'sql', 'test']
  const below = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  const paths = ['README.md', 'CONTRIBUTING.md', '.dependency-cruiser.cjs', ...below]
  return paths
    .filter((path) => /\.(ts|cjs|sql|md|eta)$/.test(path) && !/^sql\/00\d\d-|^test\/tap-testdir/.test(path))
    .map((path) => ({ path, lines: readFileSync(new URL(path, root), 'utf8').split('\n') }))
}
