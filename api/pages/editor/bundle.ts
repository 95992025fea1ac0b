import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import { type EditorBundle, keepBundle, readKeptBundle } from './kept-bundle.ts'

const gzip = promisify(gzipWithCallback)
const root = join(import.meta.dirname, '../../..')
const folder = join(import.meta.dirname, 'browser')
const keptFile = join(root, 'node_modules/.cache/editor/bundle.json')

let bundle: Promise<EditorBundle> | undefined

/**
 * The editor, bundled from `browser/`. The first start after a change of the sources bundles it, in less than a second
 * of a process of its own. Later starts find it in `node_modules/.cache`; where nothing can be written there, each
 * process bundles. The names of the scripts contain the digests of their contents. So every process of one release has
 * the same names, and browsers may keep the scripts for good. After a failure the next call tries again.
 */
export function editorBundle(): Promise<EditorBundle> {
  bundle ??= keptOrMade().catch((error: unknown) => {
    bundle = undefined
    throw error
  })
  return bundle
}

async function keptOrMade(): Promise<EditorBundle> {
  const kept = await readKeptBundle(keptFile)
  if (kept !== null) return kept
  const made = await makeBundle()
  // In an installation that cannot be written, every process bundles the editor anew.
  await keepBundle(keptFile, made).catch(() => {})
  return made.bundle
}

/** Bundles the editor, and names its sources besides packages by their paths below the repository. @internal */
export async function makeBundle(): Promise<{ bundle: EditorBundle; sources: string[] }> {
  // The bundler is loaded here, because most starts of a process do not need it.
  const { build, stop } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    entryPoints: { editor: join(folder, 'main.ts') },
    absWorkingDir: root,
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
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
  })
  await stop()
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const [entry = ''] = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint?.endsWith('/main.ts') ? [nameOf(path)] : [],
  )
  const scripts = await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      const bytes = Buffer.from(contents)
      return [nameOf(path), { bytes, compressed: await gzip(bytes, { level: 9 }) }] as const
    }),
  )
  const sources = Object.keys(metafile.inputs).filter((path) => !path.startsWith('node_modules/'))
  return { bundle: { entry, scripts: new Map(scripts) }, sources }
}
