import { Counts } from './counts.ts'

// The most bytes of all documents of the process that may wait, and of all documents of one workspace. So one workspace
// whose text cannot be stored leaves room for the others.
const mostBytes = { process: 256 * 1024 * 1024, workspace: 64 * 1024 * 1024 }

/**
 * The bytes of typed text in all documents that no commit has stored yet, and the room for more. A commit that is
 * refused or a database that is out of reach makes text wait.
 */
export class PendingRoom {
  readonly #ofWorkspace = new Counts()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Counts bytes of a document of the workspace. A negative number of bytes was stored or dropped. */
  add(workspaceId: string, bytes: number): void {
    this.#bytes += bytes
    this.#ofWorkspace.add(workspaceId, bytes)
  }

  /** Whether so many bytes more of the workspace may wait. */
  takes(workspaceId: string, bytes: number): boolean {
    const ofWorkspace = this.#ofWorkspace.of(workspaceId)
    return this.#bytes + bytes <= mostBytes.process && ofWorkspace + bytes <= mostBytes.workspace
  }
}
