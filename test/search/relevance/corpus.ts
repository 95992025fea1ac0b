import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from '../../support/processes.ts'

/** A document of the corpus. Labels name it by `name`, such as `en/sourdough`, `helmet` or `helmet/CHANGELOG`. */
export type CorpusDocument = { name: string; title: string; markdown: string }

// Markdown of packages that package.json names, so that `npm ci` has installed them. The name of a package stands for
// its readme. Of the files only facts are labelled that new versions keep.
const ofPackages = [
  ...['express', 'helmet', 'helmet/CHANGELOG', 'cors', 'cookie', 'ws', 'pino', 'pino-pretty', 'pg', 'pg-boss'],
  ...['prom-client', 'p-limit', 'leven', 'lru-cache', 'remark', 'remark-gfm', 'remark-math', 'remark-frontmatter'],
  ...['micromark', 'rate-limiter-flexible', 'sanitize-html', 'typebox', 'ulid', 'yauzl', 'yazl', 'yjs', 'y-protocols'],
  ...['lib0', 'fast-check', 'knip', 'markdown-it', 'diff', 'diff/release-notes', 'eventsource', 'dependency-cruiser'],
  ...['content-disposition', 'canonicalize', 'fractional-indexing', 'github-slugger', 'file-type', 'highlight.js'],
  ...['highlight.js/CHANGES', 'highlight.js/VERSION_11_UPGRADE', 'jsonc-parser', 'jsonc-parser/CHANGELOG', 'openai'],
  ...['openid-client', 'oidc-provider', 'openapi-fetch', 'openapi-typescript/CHANGELOG', 'node-pg-migrate', 'eta'],
  ...['s3rver', 'tap', 'axe-core', '@redocly/cli', '@fastify/busboy', '@hono/node-server', '@hocuspocus/server'],
  ...['prosemirror-model/CHANGELOG', 'prosemirror-markdown', 'prosemirror-markdown/CHANGELOG', '@biomejs/biome'],
  ...['es', 'fr', 'ja', 'ru', 'zh-CN'].map((language) => `@biomejs/biome/README.${language}`),
]

/** Documents in eight languages that were written for this set, each about another subject. */
export function ownDocuments(): CorpusDocument[] {
  const texts = new URL('texts/', import.meta.url).pathname
  return globSync('*/*.md', { cwd: texts })
    .sort()
    .map((path) => {
      const [, title = '', markdown = ''] = /^# (.+)\n([\s\S]*)$/.exec(readFileSync(join(texts, path), 'utf8')) ?? []
      return { name: path.slice(0, -'.md'.length), title, markdown: markdown.trim() }
    })
}

/** Readmes and changelogs of packages that this service installs. */
export function packageDocuments(): CorpusDocument[] {
  return ofPackages.map((name) => {
    const [, owner = '', file = 'readme'] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.+))?$/.exec(name) ?? []
    const folder = join(root, 'node_modules', owner)
    const there = readdirSync(folder).find((entry) => entry.toLowerCase() === `${file}.md`.toLowerCase())
    if (there === undefined) throw new Error(`The package ${owner} has no file ${file}.md any more`)
    const title = file === 'readme' ? owner : `${owner} ${basename(there, '.md')}`
    return { name, title, markdown: readFileSync(join(folder, there), 'utf8') }
  })
}
