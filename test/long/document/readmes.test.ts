import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import { toMarkdown } from '../../../shared/body/markdown/to-markdown.ts'
import { syntaxTree } from '../../document/syntax-tree.ts'
import { root } from '../../support/processes.ts'
import { t } from '../../support/tap.ts'

// The READMEs that come back with another syntax tree, and the reasons. The contract keeps only links beside code, and
// a warning tells the author of a mark that is lost.
const explained: { [path: string]: string } = {
  'acorn/README.md': 'Bold around nothing but code (contract).',
  'jose/README.md': 'Bold around nothing but code (contract).',
  'minimatch/README.md': 'A break at the edge of bold stands outside of it.',
  'type-fest/readme.md': 'White space before `</details>` in an item.',
}

// The READMEs of the packages with the most dependents in the lock file. The list is fixed, because packages change.
const paths = [
  '@aws-sdk/core/README.md',
  '@aws-sdk/nested-clients/README.md',
  '@aws-sdk/types/README.md',
  '@gar/promise-retry/README.md',
  '@octokit/core/README.md',
  '@octokit/types/README.md',
  '@sigstore/protobuf-specs/README.md',
  '@slonik/errors/README.md',
  '@slonik/types/README.md',
  '@smithy/core/README.md',
  '@smithy/types/README.md',
  '@tapjs/after/README.md',
  '@tapjs/core/README.md',
  '@tapjs/stack/README.md',
  '@tapjs/test/README.md',
  '@tiptap/core/README.md',
  '@tiptap/extension-list/README.md',
  '@tiptap/extensions/README.md',
  '@tiptap/pm/README.md',
  '@tiptap/y-tiptap/README.md',
  '@types/mdast/README.md',
  '@types/node/README.md',
  '@types/unist/README.md',
  'acorn/README.md',
  'agent-base/README.md',
  'ansi-styles/readme.md',
  'call-bound/README.md',
  'chalk/readme.md',
  'color-name/README.md',
  'commander/Readme.md',
  'content-disposition/README.md',
  'content-type/README.md',
  'debug/README.md',
  'decode-named-character-reference/readme.md',
  'depd/Readme.md',
  'devlop/readme.md',
  'diff/README.md',
  'domelementtype/readme.md',
  'emoji-regex/README.md',
  'encodeurl/README.md',
  'es-errors/README.md',
  'escape-html/Readme.md',
  'escape-string-regexp/readme.md',
  'eventsource-parser/README.md',
  'express/Readme.md',
  'fresh/README.md',
  'get-east-asian-width/readme.md',
  'glob/README.md',
  'graceful-fs/README.md',
  'http-errors/README.md',
  'inherits/README.md',
  'is-actual-promise/README.md',
  'jose/README.md',
  'koa-compose/Readme.md',
  'lib0/README.md',
  'loose-envify/README.md',
  'lru-cache/README.md',
  'mdast-util-from-markdown/readme.md',
  'mdast-util-to-markdown/readme.md',
  'micromark-factory-space/readme.md',
  'micromark-util-character/readme.md',
  'micromark-util-chunked/readme.md',
  'micromark-util-normalize-identifier/readme.md',
  'micromark-util-symbol/readme.md',
  'micromark-util-types/readme.md',
  'mime-db/README.md',
  'mime-types/README.md',
  'minimatch/README.md',
  'minipass/README.md',
  'mkdirp/readme.markdown',
  'ms/readme.md',
  'negotiator/README.md',
  'on-finished/README.md',
  'parseurl/README.md',
  'pg/README.md',
  'proc-log/README.md',
  'prosemirror-model/README.md',
  'prosemirror-state/README.md',
  'prosemirror-transform/README.md',
  'prosemirror-view/README.md',
  'react/README.md',
  'resolve-import/README.md',
  'rimraf/README.md',
  'safe-stable-stringify/readme.md',
  'semver/README.md',
  'signal-exit/README.md',
  'statuses/README.md',
  'string-width/readme.md',
  'strip-ansi/readme.md',
  'tap-parser/README.md',
  'tap-yaml/README.md',
  'tcompare/README.md',
  'tslib/README.md',
  'type-fest/readme.md',
  'typescript/README.md',
  'unified/readme.md',
  'walk-up-path/README.md',
  'yaml/README.md',
  'yjs/README.md',
  'zod/README.md',
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
