import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { runCommandLine } from '../process/command-line.ts'

const usage = `usage: node shared/packaging/pack-command.ts [--restore]

Makes what npm pack puts into the package for other programs: the typed client and the command line as JavaScript, in
dist, and a package.json for them. npm runs it before it packs, and with --restore after it has packed, which brings
the package.json of this repository back.

  --restore   undoes it
  --help      prints this

Exit codes: 0 done, 1 failed, 2 the command line makes no sense.`

const root = join(import.meta.dirname, '../..')
const target = join(root, 'dist')
const manifest = join(root, 'package.json')
const kept = join(root, 'node_modules/.cache/package.json')

await runCommandLine({ usage, options: { restore: { type: 'boolean', default: false } } }, async ({ values }) => {
  // A packing that was interrupted has left the other package.json behind.
  restore()
  if (!values.restore) await prepare()
})

// A package.json with scripts is that of the repository: somebody has brought it back, and may have changed it since.
function restore(): void {
  if (!existsSync(kept)) return
  const { scripts } = JSON.parse(readFileSync(manifest, 'utf8')) as { scripts?: object }
  if (scripts === undefined) renameSync(kept, manifest)
  else rmSync(kept)
}

async function prepare(): Promise<void> {
  rmSync(target, { recursive: true, force: true })
  buildClient()
  await buildCommandLine()
  const own = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
  mkdirSync(dirname(kept), { recursive: true })
  copyFileSync(manifest, kept)
  writeFileSync(manifest, `${JSON.stringify(packaged(own), null, 2)}\n`)
}

// Compiled file by file, so that the declarations and the code of a program's stack traces are those of the repository.
function buildClient(): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const folder = join(root, 'shared/client')
  const { status, stdout } = spawnSync(process.execPath, [compiler, '--project', folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the typed client cannot be compiled:\n${stdout}`)
  copyFileSync(join(folder, 'openapi.d.ts'), join(target, 'client/openapi.d.ts'))
}

// Files without dependencies, so that `npx` has nothing else to fetch. What only some commands need is in separate
// files, because Node reads the whole text of a file even when little of the file runs.
async function buildCommandLine(): Promise<void> {
  await build({
    entryPoints: [join(root, 'shared/cli/main.ts')],
    outdir: join(target, 'cli'),
    splitting: true,
    inject: [join(root, 'shared/packaging/older-node.ts')],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    legalComments: 'linked',
    // Packages in CommonJS that are part of the bundle require modules of Node.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  })
}

type Manifest = {
  name: string
  version: string
  description: string
  license: string
  dependencies: Record<string, string>
}

/** The package.json of the package: the service itself and what it depends on stay out. */
function packaged({ name, version, description, license, dependencies }: Manifest): object {
  return {
    ...{ name, version, description, license, type: 'module', engines: { node: '>=20.3' } },
    exports: { './client': { types: './dist/client/client.d.ts', default: './dist/client/client.js' } },
    bin: { 'knowledge-base': 'dist/cli/main.js' },
    files: ['dist'],
    dependencies: {
      'eventsource-parser': dependencies['eventsource-parser'],
      'openapi-fetch': dependencies['openapi-fetch'],
    },
  }
}
