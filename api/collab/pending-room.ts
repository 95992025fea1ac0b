import { Counts } from './counts.ts'

const mebibyte = 1024 * 1024
// The most bytes that may wait: of all documents of the process; of all documents of a workspace whose text was not
// refused, and with those whose text was; and of one user.
const mostBytes = {
  process: 256 * mebibyte,
  workspace: 64 * mebibyte,
  workspaceWithRefused: 128 * mebibyte,
  user: 16 * mebibyte,
}

/**
 * The bytes of typed text in all documents that no commit has stored yet, and the room for more. A commit that is
 * refused or a database that is out of reach makes text wait. Text that is refused for what its document holds takes no
 * room from the other documents of its workspace.
 */
export class PendingRoom {
  readonly #ofWorkspace = new Counts()
  readonly #refusedOfWorkspace = new Counts()
  readonly #ofUser = new Counts()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Counts bytes of a document that a user has typed. A negative number of bytes was stored or dropped. */
  add({ workspaceId, userId }: { workspaceId: string; userId: string }, bytes: number): void {
    this.#bytes += bytes
    this.#ofWorkspace.add(workspaceId, bytes)
    this.#ofUser.add(userId, bytes)
  }

  /** Notes that so many of the bytes of the workspace were refused; a negative number of bytes is not any more. */
  addRefused(workspaceId: string, bytes: number): void {
    this.#refusedOfWorkspace.add(workspaceId, bytes)
  }

  /** Whether so many bytes more may wait, which the user has typed. */
  takes({ workspaceId, userId }: { workspaceId: string; userId: string }, bytes: number): boolean {
    const others = this.#ofWorkspace.of(workspaceId) - this.#refusedOfWorkspace.of(workspaceId)
    const isWithinShare = this.#ofUser.of(userId) + bytes <= mostBytes.user
    return isWithinShare && others + bytes <= mostBytes.workspace && this.takesRefused(workspaceId, bytes)
  }

  /** Whether so many bytes more may wait in a document whose text was refused, such as the deletion of its text. */
  takesRefused(workspaceId: string, bytes: number): boolean {
    const isWithinWorkspace = this.#ofWorkspace.of(workspaceId) + bytes <= mostBytes.workspaceWithRefused
    return isWithinWorkspace && this.#bytes + bytes <= mostBytes.process
  }
}
