import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A script of the editor as browsers get it, plain and compressed. */
export type Script = { bytes: Buffer; compressed: Buffer }

/** The scripts of the editor by name. `entry` is the script that the page loads first; it loads the others by need. */
export type EditorBundle = { entry: string; scripts: ReadonlyMap<string, Script> }

const root = join(import.meta.dirname, '../../..')
// Every other input comes from a package, and the lock file names the versions of all packages.
const lockFile = 'package-lock.json'

/** The form of the file. `inputs` has the digests of the sources by their paths, `scripts` the compressed scripts. */
type Kept = { inputs: { [path: string]: string }; entry: string; scripts: { [name: string]: string } }

/** The bundle that is kept in a file, if it was made from the sources as they are now; null otherwise. */
export async function readKeptBundle(file: string): Promise<EditorBundle | null> {
  try {
    const { inputs, entry, scripts } = JSON.parse(await readFile(file, 'utf8')) as Kept
    const now = await digestsOf(Object.keys(inputs))
    if (Object.entries(inputs).some(([path, digest]) => now[path] !== digest)) return null
    const read = Object.entries(scripts).map(([name, text]) => {
      const compressed = Buffer.from(text, 'base64')
      return [name, { bytes: gunzipSync(compressed), compressed }] as const
    })
    return { entry, scripts: new Map(read) }
  } catch {
    // There is no file yet, a source is gone, or a process of another version has written the file.
    return null
  }
}

/**
 * Keeps a bundle in a file. `sources` are the paths of its sources below the root of the repository. Several processes
 * may keep the bundle at once. Rejects where the file cannot be written.
 */
export async function keepBundle(
  file: string,
  { bundle, sources }: { bundle: EditorBundle; sources: readonly string[] },
): Promise<void> {
  const inputs = await digestsOf([...sources, lockFile])
  const scripts = Object.fromEntries(
    Array.from(bundle.scripts, ([name, { compressed }]) => [name, compressed.toString('base64')]),
  )
  const unfinished = `${file}.${randomUUID()}`
  await mkdir(dirname(file), { recursive: true })
  await writeFile(unfinished, JSON.stringify({ inputs, entry: bundle.entry, scripts } satisfies Kept))
  await rename(unfinished, file)
}

async function digestsOf(paths: readonly string[]): Promise<{ [path: string]: string }> {
  const digests = paths.map(async (path) => {
    const text = await readFile(join(root, path))
    return [path, createHash('sha256').update(text).digest('hex')] as const
  })
  return Object.fromEntries(await Promise.all(digests))
}
