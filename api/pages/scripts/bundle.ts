import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import { keepScripts, type PageScripts, readKeptScripts } from './kept-bundle.ts'

const gzip = promisify(gzipWithCallback)
const root = join(import.meta.dirname, '../../..')
const pages = join(root, 'api/pages')
const keptFile = join(root, 'node_modules/.cache/pages/scripts.json')

// The script that a page loads first, by the name of the page.
const entryPoints = {
  editor: 'editor/browser/main.ts',
  unsent: 'editor/browser/unsent.ts',
  panels: 'panels/browser/main.ts',
  search: 'search/browser/main.ts',
  sharing: 'sharing/browser/main.ts',
  workspace: 'workspace/browser/main.ts',
  'sign-in-link': 'sign-in-link/browser/main.ts',
  diagrams: 'diagrams/browser/main.ts',
}

/** The name of a page with scripts. */
export type ScriptedPage = keyof typeof entryPoints

let scripts: Promise<PageScripts> | undefined

/**
 * The scripts of all pages, bundled from the folders `browser/`. The first start after a change of the sources bundles
 * them, in less than a second of a process of its own. Later starts find them in `node_modules/.cache`; where nothing
 * can be written there, each process bundles. The names of the scripts contain the digests of their contents. So every
 * process of one release has the same names, and browsers may keep the scripts for good. After a failure the next call
 * tries again.
 */
export function pageScripts(): Promise<PageScripts> {
  scripts ??= keptOrMade().catch((error: unknown) => {
    scripts = undefined
    throw error
  })
  return scripts
}

/** The path of the script that a page loads first. */
export async function scriptPath(page: ScriptedPage): Promise<string> {
  const { entries } = await pageScripts()
  return `/assets/scripts/${entries[page]}`
}

/** The paths of the scripts without which that script cannot run, so that browsers fetch all of them at once. */
export async function scriptParts(page: ScriptedPage): Promise<string[]> {
  const { parts } = await pageScripts()
  return (parts[page] ?? []).map((name) => `/assets/scripts/${name}`)
}

async function keptOrMade(): Promise<PageScripts> {
  const kept = await readKeptScripts(keptFile)
  if (kept !== null) return kept
  const made = await bundleScripts()
  // In an installation that cannot be written, every process bundles the scripts anew.
  await keepScripts(keptFile, made).catch(() => {})
  return made.scripts
}

/** Bundles the scripts, and names their sources besides packages by their paths below the repository. @internal */
export async function bundleScripts(): Promise<{ scripts: PageScripts; sources: string[] }> {
  // The bundler is loaded here, because most starts of a process do not need it.
  const { build, stop } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    entryPoints: Object.fromEntries(Object.entries(entryPoints).map(([name, path]) => [name, join(pages, path)])),
    absWorkingDir: root,
    outdir: pages,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    // Mermaid comes as a whole script, which is no module.
    loader: { '.tiny.js': 'file' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    minify: true,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  }).finally(stop)
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const outputs = Object.entries(metafile.outputs)
  const made = Object.entries(entryPoints).map(([name, source]) => {
    const [path = '', output] = outputs.find(([, { entryPoint }]) => entryPoint === `api/pages/${source}`) ?? []
    const parts = output?.imports.filter(({ kind }) => kind === 'import-statement').map((part) => nameOf(part.path))
    return { name, entry: nameOf(path), parts: parts ?? [] }
  })
  const entries = Object.fromEntries(made.map(({ name, entry }) => [name, entry]))
  const parts = Object.fromEntries(made.map((one) => [one.name, one.parts]))
  const files = await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      const bytes = Buffer.from(contents)
      return [nameOf(path), { bytes, compressed: await gzip(bytes, { level: 9 }) }] as const
    }),
  )
  const sources = Object.keys(metafile.inputs).filter((path) => !path.startsWith('node_modules/'))
  return { scripts: { entries, parts, files: new Map(files) }, sources }
}
