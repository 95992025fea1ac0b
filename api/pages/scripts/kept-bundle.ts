import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A script as browsers get it, plain and compressed. */
export type Script = { bytes: Buffer; compressed: Buffer }

/**
 * The scripts of all pages by name. `entries` has the script that each page loads first, and `parts` the scripts that
 * each of these scripts cannot run without. A script loads others by need.
 */
export type PageScripts = {
  entries: { [page: string]: string }
  parts: { [page: string]: string[] }
  files: ReadonlyMap<string, Script>
}

const root = join(import.meta.dirname, '../../..')
// The inputs besides the sources: the bundler with its list of pages, and the packages, whose versions the lock file
// names.
const otherInputs = ['api/pages/scripts/bundle.ts', 'package-lock.json']

/** The form of the file. `inputs` has the digests of all inputs by their paths, `files` the compressed scripts. */
type Kept = {
  inputs: { [path: string]: string }
  entries: { [page: string]: string }
  parts: { [page: string]: string[] }
  files: { [name: string]: string }
}

/** The scripts that are kept in a file, if they were made from the sources as they are now; null otherwise. */
export async function readKeptScripts(file: string): Promise<PageScripts | null> {
  try {
    const { inputs, entries, parts, files } = JSON.parse(await readFile(file, 'utf8')) as Kept
    const now = await digestsOf([...Object.keys(inputs), ...otherInputs])
    if (Object.entries(now).some(([path, digest]) => inputs[path] !== digest)) return null
    const read = Object.entries(files).map(([name, text]) => {
      const compressed = Buffer.from(text, 'base64')
      return [name, { bytes: gunzipSync(compressed), compressed }] as const
    })
    return { entries, parts, files: new Map(read) }
  } catch {
    // There is no file yet, it is broken, or a source is gone.
    return null
  }
}

/**
 * Keeps scripts in a file. `sources` are the paths of their sources below the root of the repository. Several processes
 * may keep the scripts at once. Rejects where the file cannot be written.
 */
export async function keepScripts(
  file: string,
  { scripts, sources }: { scripts: PageScripts; sources: readonly string[] },
): Promise<void> {
  const { entries, parts } = scripts
  const inputs = await digestsOf([...sources, ...otherInputs])
  const files = Object.fromEntries(
    Array.from(scripts.files, ([name, { compressed }]) => [name, compressed.toString('base64')]),
  )
  const unfinished = `${file}.${randomUUID()}`
  await mkdir(dirname(file), { recursive: true })
  await writeFile(unfinished, JSON.stringify({ inputs, entries, parts, files } satisfies Kept))
  await rename(unfinished, file)
}

async function digestsOf(paths: readonly string[]): Promise<{ [path: string]: string }> {
  const digests = paths.map(async (path) => {
    const text = await readFile(join(root, path))
    return [path, createHash('sha256').update(text).digest('hex')] as const
  })
  return Object.fromEntries(await Promise.all(digests))
}
