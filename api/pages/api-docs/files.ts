import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** A file of the viewer, as it goes to browsers. */
export type ViewerFile = { type: string; bytes: Buffer; version: string; gzipped: () => Promise<Buffer> }

const library = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
const script = 'text/javascript; charset=utf-8'
const stylesheet = 'text/css; charset=utf-8'

const places: Record<string, { directory: string; type: string }> = {
  'swagger-ui.css': { directory: library, type: stylesheet },
  'swagger-ui-bundle.js': { directory: library, type: script },
  'viewer.css': { directory: join(import.meta.dirname, 'browser'), type: stylesheet },
  'viewer.js': { directory: join(import.meta.dirname, 'browser'), type: script },
}

const files = new Map<string, ViewerFile>()

/** The file of that name, read when it is first asked for; undefined when there is none. */
export function viewerFile(name: string): ViewerFile | undefined {
  const place = places[name]
  if (place === undefined || !Object.hasOwn(places, name)) return undefined
  const known = files.get(name)
  if (known !== undefined) return known
  const bytes = readFileSync(join(place.directory, name))
  let gzipped: Promise<Buffer> | undefined
  const file: ViewerFile = {
    type: place.type,
    bytes,
    version: createHash('sha256').update(bytes).digest('base64url').slice(0, 16),
    gzipped() {
      gzipped ??= promisify(gzip)(bytes)
      return gzipped
    },
  }
  files.set(name, file)
  return file
}

/** The address of a file of the viewer, which changes with its content. */
export function viewerAddress(name: string): string {
  return `/api-docs/${name}?v=${viewerFile(name)?.version}`
}
