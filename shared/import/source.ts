import type { Readable } from 'node:stream'

/**
 * What is imported: files under names with `/` between folders, whether they stand in a folder or in a zip. Names are in
 * Unicode form NFC, as links in texts are, and never lead out of the source.
 */
export type Source = {
  /** What the source is called, for a knowledge base that is made for it. */
  readonly name: string
  readonly names: ReadonlySet<string>
  /** What the source has and does not offer: hidden files, links to elsewhere. A folder stands for all that it holds. */
  readonly skipped: readonly Skipped[]
  /** The bytes of a file; a SourceError when there are more than the limit or they are damaged. */
  read: (name: string, limit: number) => Promise<Buffer>
  close: () => Promise<void>
}

/** A file or folder that is not imported, and why. */
export type Skipped = { name: string; reason: SkipReason }

export type SkipReason = keyof typeof skipReasons

/** Why something of a source is not imported, in words for the person who imports. */
export const skipReasons = {
  hidden: 'its name begins with a dot',
  node_modules: 'packages that were installed',
  symbolic_link: 'a symbolic link, which can lead anywhere',
  special_file: 'neither a file nor a folder',
  unnamed_image: 'an image that no Markdown file shows',
  other_type: 'neither Markdown nor an image',
  not_in_manifest: 'the manifest of the export does not name it',
  no_bytes: 'the export was made without the bytes of the file',
} as const

/** A source that cannot be read or is not safe to read; the message is for the person who named it. */
export class SourceError extends Error {}

// Of a text, in bytes: far more than a document may have.
const textLimit = 32 * 1024 * 1024

/** The text of a file in UTF-8, without a byte order mark. */
export async function readText(source: Source, name: string, limit = textLimit): Promise<string> {
  const bytes = await source.read(name, limit)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new SourceError(`${name} is not UTF-8`, { cause })
  }
}

/** All bytes of a stream, unless they are more than the limit. */
export async function collect(stream: Readable, file: { name: string; limit: number }): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > file.limit) throw new SourceError(`${file.name} has more than ${file.limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
