import { pipeline, type Readable } from 'node:stream'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { unsupportedMediaType } from '../errors/unsupported-media-type.ts'
import { newId } from '../schema/ids.ts'
import { harmlessFilename } from './filename.ts'
import { Inspection } from './inspection.ts'
import { removeLooseFiles } from './loose-files.ts'
import { insertLooseFile } from './orphans.ts'
import type { FileStore } from './store.ts'

/** A file as somebody sends it: nothing about it is to be believed. */
export type SentFile = { bytes: Readable; filename: string; contentType: string }

/** A file that is stored and checked, under the id that its attachment will have. */
export type ReceivedFile = { id: string; filename: string; contentType: string; size: number; sha256: string }

type Context = {
  database: Database
  files: FileStore
  config: Pick<Config, 'ATTACHMENT_MAX_BYTES' | 'ATTACHMENT_TYPES'>
}

/** The file of one request, from its arrival until it belongs to an attachment or is gone again. */
export class Upload {
  readonly #context: Context
  #id: string | null = null
  #received: ReceivedFile | null = null

  constructor(context: Context) {
    this.#context = context
  }

  /** What was received; null as long as nothing is. */
  get received(): ReceivedFile | null {
    return this.#received
  }

  /**
   * Stores a file as it arrives, without holding it in memory. Refuses with 413 `attachment_too_large`, 415
   * `unsupported_media_type`, 400 for an empty file, and 503 when the store fails.
   */
  async receive({ bytes, filename, contentType }: SentFile): Promise<void> {
    const { database, files, config } = this.#context
    const { ATTACHMENT_MAX_BYTES: maxBytes, ATTACHMENT_TYPES: acceptedTypes } = config
    if (!acceptedTypes.includes(contentType)) {
      throw unsupportedMediaType({ sent: contentType, accepted: acceptedTypes })
    }
    const id = newId('att')
    await insertLooseFile(database, { id, hours: 1 })
    this.#id = id
    const inspection = new Inspection({ contentType, maxBytes, acceptedTypes })
    // Whoever writes sees every failure, that of the sender too, as one of the inspection.
    pipeline(bytes, inspection, () => {})
    try {
      await files.write(id, inspection)
    } catch (error) {
      // A store may report its own failure to clean up instead.
      if (inspection.errored instanceof Refusal) throw inspection.errored
      throw new Refusal('service_unavailable', { headers: { 'Retry-After': '5' }, cause: error })
    }
    const { byteCount: size } = inspection
    this.#received = { id, filename: harmlessFilename(filename), contentType, size, sha256: inspection.sha256() }
  }

  /** Removes the file unless it was claimed; to be called once the request is decided, whatever became of it. */
  async release(): Promise<void> {
    if (this.#id !== null) await removeLooseFiles(this.#context, { id: this.#id })
  }
}
