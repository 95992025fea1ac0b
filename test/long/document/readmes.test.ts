import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import { toMarkdown } from '../../../shared/body/markdown/to-markdown.ts'
import { syntaxTree } from '../../document/syntax-tree.ts'
import { root } from '../../support/processes.ts'
import { t } from '../../support/tap.ts'

// The READMEs that come back with another syntax tree, and the reasons. A body keeps only links beside code, so a mark
// around nothing but code is lost. A warning tells the author.
const explained: { [path: string]: string } = {
  'acorn-loose/README.md': 'Bold around nothing but code.',
  'dom-serializer/README.md': 'Bold around nothing but code.',
  'mdast-util-gfm-table/readme.md': 'Bold around nothing but code.',
}

// These were taken at even distances from 688 different READMEs of installed packages. The list is fixed, because
// packages change.
const paths = [
  ...['@alcalzone/ansi-tokenize/README.md', '@aws-sdk/credential-provider-login/README.md'],
  ...['@aws-sdk/nested-clients/README.md', '@babel/helper-validator-identifier/README.md'],
  ...['@dabh/diagnostics/README.md', '@isaacs/ts-node-temp-fork-for-pr-2009/README.md', '@npmcli/agent/README.md'],
  ...['@npmcli/redact/README.md', '@redocly/cli/README.md', '@sigstore/bundle/README.md', '@slonik/errors/README.md'],
  ...['@smithy/fetch-http-handler/README.md', '@tapjs/after/README.md', '@tapjs/error-serdes/README.md'],
  ...['@tapjs/reporter/README.md', '@tapjs/typescript/README.md', '@tsconfig/node20/README.md'],
  ...['@types/debug/README.md', '@types/linkify-it/README.md', '@types/qs/README.md', '@types/yauzl/README.md'],
  ...['acorn-loose/README.md', 'ansi-styles/readme.md', 'atomic-sleep/readme.md', 'body-parser/README.md'],
  ...['c8/README.md', 'ccount/readme.md', 'cli-cursor/readme.md', 'color-string/README.md'],
  ...['convert-source-map/README.md', 'cron-parser/README.md', 'depd/Readme.md', 'dom-serializer/README.md'],
  ...['enabled/README.md', 'es-define-property/README.md', 'eta/README.md', 'exponential-backoff/README.md'],
  ...['fast-safe-stringify/readme.md', 'finalhandler/README.md', 'fresh/README.md', 'get-caller-file/README.md'],
  ...['global-directory/readme.md', 'hasown/README.md', 'html-escaper/README.md', 'humanize-number/Readme.md'],
  ...['inherits/README.md', 'is-core-module/README.md', 'is-plain-object/README.md', 'isomorphic.js/README.md'],
  ...['joycon/README.md', 'jsonc-parser/README.md', 'knip/README.md', 'leven/readme.md', 'lru-cache/README.md'],
  ...['math-intrinsics/README.md', 'mdast-util-gfm-table/readme.md', 'mdurl/README.md'],
  ...['micromark-extension-gfm-footnote/readme.md', 'micromark-factory-destination/readme.md'],
  ...['micromark-util-chunked/readme.md', 'micromark-util-html-tag-name/readme.md', 'micromark/readme.md'],
  ...['minipass-fetch/README.md', 'nanoid/README.md', 'nopt/README.md', 'npm-registry-fetch/README.md'],
  ...['once/README.md', 'openapi-typescript-helpers/README.md', 'p-limit/readme.md', 'pacote/README.md'],
  ...['path-key/readme.md', 'pg-connection-string/README.md', 'pg-types/README.md', 'pino-std-serializers/Readme.md'],
  ...['postgres-array/readme.md', 'proc-log/README.md', 'prosemirror-model/README.md', 'range-parser/README.md'],
  ...['react/README.md', 'remark-frontmatter/readme.md', 'resolve-import/README.md', 's3rver/README.md'],
  ...['scheduler/README.md', 'shebang-command/readme.md', 'signal-exit/README.md', 'snowball-stemmers/README.md'],
  ...['spdx-license-ids/README.md', 'strict-event-emitter-types/README.md', 'strnum/README.md', 'tap-parser/README.md'],
  ...['temml/README.md', 'token-types/README.md', 'tshy/README.md', 'typescript/README.md', 'unified/readme.md'],
  ...['unpipe/README.md', 'vary/README.md', 'winston-transport/README.md', 'yallist/README.md', 'yazl/README.md'],
]

const sample = paths.flatMap((path) => {
  const file = join(root, 'node_modules', path)
  if (!existsSync(file)) return []
  const text = readFileSync(file, 'utf8')
  return [{ path, text, once: rewritten(text) }]
})

function rewritten(markdown: string): string {
  return toMarkdown(fromMarkdown(markdown).result, { anchors: false }).markdown
}

t.test('a README comes back with the syntax tree it had, or the difference is explained', async (t) => {
  t.ok(sample.length >= 90, 'most of the packages are installed')
  const differing = sample.filter(({ text, once }) => syntaxTree(once) !== syntaxTree(text))
  t.strictSame(
    differing.map(({ path }) => path),
    Object.keys(explained),
  )
})

t.test('a README that was written once is written the same from then on', async (t) => {
  for (const { path, once } of sample) t.equal(rewritten(once), once, path)
})

t.test('no README gets a character reference that its author did not write', async (t) => {
  const references = (markdown: string) => markdown.match(/&#x?\w+;/g)?.length ?? 0
  const more = sample.filter(({ text, once }) => references(once) > references(text))
  t.strictSame(
    more.map(({ path }) => path),
    [],
  )
})
