import { fromBufferPromise } from 'yauzl'
import { Archive } from '../../shared/export/archive.ts'
import type { Client } from './client.ts'

/** The files of a zip by name. */
async function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, autoClose: false, strictFileNames: true })
  const files = new Map<string, Buffer>()
  for await (const entry of zip.eachEntry()) {
    const chunks = await (await zip.openReadStreamPromise(entry)).toArray()
    if (files.has(entry.fileName)) throw new Error(`${entry.fileName} is there twice`)
    files.set(entry.fileName, Buffer.concat(chunks))
  }
  return files
}

/** A zip of these files. */
export async function zip(files: Record<string, string | Buffer>): Promise<Buffer> {
  const archive = new Archive()
  const bytes = archive.stream.toArray() as Promise<Buffer[]>
  for (const [name, content] of Object.entries(files)) {
    await archive.add(name, Buffer.from(content), { modified: new Date() })
  }
  archive.end()
  return Buffer.concat(await bytes)
}

/** The answer to an export, before its body is read. */
export function requestExport(client: Client, knowledgeBase: number, options: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${client.bearer}` }
  return fetch(`${client.origin}/api/v1/knowledge-bases/${knowledgeBase}/export`, { headers, ...options })
}

/** Downloads and unpacks an export. Throws when the answer is not 200. */
export async function exported(client: Client, knowledgeBase: number) {
  const response = await requestExport(client, knowledgeBase)
  if (response.status !== 200) throw new Error(`export answered ${response.status}: ${await response.text()}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { bytes, ...(await manifestOf(bytes)), headers: response.headers }
}

/** The files of an export and its parsed manifest. */
export async function manifestOf(bytes: Buffer) {
  const files = await unzip(bytes)
  // biome-ignore lint/suspicious/noExplicitAny: tests look into records of every shape
  const manifest = JSON.parse(files.get('manifest.json')?.toString() ?? '') as Record<string, any>
  return { files, manifest }
}
