import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'

/** A script of the editor as browsers get it, plain and compressed. */
export type Script = { bytes: Buffer; compressed: Buffer }

/** The scripts of the editor by name. `entry` is the script that the page loads first; it loads the others by need. */
export type EditorBundle = { entry: string; scripts: ReadonlyMap<string, Script> }

const gzip = promisify(gzipWithCallback)
const folder = join(import.meta.dirname, 'browser')

let bundle: Promise<EditorBundle> | undefined

/**
 * The editor, bundled from `browser/` by the first call. It takes less than a second of processor time in a process of
 * its own. The names of the scripts contain the digests of their contents, so every process of one release has the same
 * names, and browsers may keep the scripts for good. After a failure the next call tries again.
 */
export function editorBundle(): Promise<EditorBundle> {
  bundle ??= makeBundle().catch((error: unknown) => {
    bundle = undefined
    throw error
  })
  return bundle
}

async function makeBundle(): Promise<EditorBundle> {
  // The bundler is loaded here, because only a process that serves editors needs it.
  const { build, stop } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    entryPoints: { editor: join(folder, 'main.ts') },
    absWorkingDir: folder,
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
  const isEntry = (path: string) => metafile.outputs[path]?.entryPoint === 'main.ts'
  const entry = Object.keys(metafile.outputs).find(isEntry) ?? ''
  const scripts = await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      const bytes = Buffer.from(contents)
      return [path.slice(folder.length + 1), { bytes, compressed: await gzip(bytes, { level: 9 }) }] as const
    }),
  )
  return { entry, scripts: new Map(scripts) }
}
