import { directoryOf, type Folder, nameOfDirectory } from './paths.ts'
import type { SyncService } from './service.ts'

/** Finds the folders of the service by their directories, and makes the folders that are missing. */
export class FolderIds {
  readonly #onMade: (folder: Folder, directory: string) => void
  readonly #service: SyncService
  readonly #ids = new Map<string, Promise<number | null>>()

  /**
   * `directories` has the directory of each folder. The empty path is the synced folder, or null for the root. `onMade`
   * is told of each new folder at once, so that no later round or sync makes it again.
   */
  constructor(
    service: SyncService,
    {
      directories,
      onMade,
    }: {
      directories: ReadonlyMap<number | null, string>
      onMade: (folder: Folder, directory: string) => void
    },
  ) {
    this.#service = service
    this.#onMade = onMade
    for (const [id, directory] of directories) this.#ids.set(directory, Promise.resolve(id))
  }

  /** The folder of a directory, which is made with the folders above it if it is missing. */
  idOf(directory: string): Promise<number | null> {
    const known = this.#ids.get(directory)
    if (known !== undefined) return known
    const made = this.#make(directory)
    this.#ids.set(directory, made)
    made.catch(() => this.#ids.delete(directory))
    return made
  }

  /** Gives a folder the name and the place of a directory. Returns the folder. */
  async rename(id: number, directory: string): Promise<Folder> {
    const folder = { id, name: nameOfDirectory(directory), parent_id: await this.idOf(directoryOf(directory)) }
    await this.#service.changeFolder(folder)
    return folder
  }

  async #make(directory: string): Promise<number | null> {
    const parentId = await this.idOf(directoryOf(directory))
    const folder = await this.#service.createFolder(nameOfDirectory(directory), parentId)
    this.#onMade(folder, directory)
    return folder.id
  }
}
