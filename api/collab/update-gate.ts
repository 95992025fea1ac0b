import type { Connection } from '@hocuspocus/server'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import * as Y from 'yjs'
import { type ClientUpdate, checkUpdate, mostComparisons, RefusedUpdate } from '../../shared/body/yjs/client-update.ts'
import { trying } from '../../shared/body/yjs/computations.ts'
import { watchKeptBack } from '../../shared/body/yjs/state.ts'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { compute } from '../../shared/computations/compute.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import type { MessageGate } from './message-gate.ts'
import { originOf } from './origins.ts'
import type { ConnectionContext } from './protocol-server.ts'

type EditorConnection = Connection<ConnectionContext>

// An update with more bytes, or with more comparisons of structs, is tried first. Reading and applying an update below
// both limits takes at most a quarter of a second, and as a rule less than a millisecond.
const mostBytes = 64 * 1024
const mostUntriedComparisons = 1_000_000
// The milliseconds of processor time that the updates of one user may take in some seconds. After that every update of
// the user is tried first. Typing takes a few milliseconds in a second.
const untried = { points: 500, duration: 5 }
// The milliseconds that trials of one user, and the updates that passed them, may take in some seconds.
const tried = { points: 2000, duration: 20 }
// How often an update is tried when the document changes meanwhile.
const mostTrials = 3
// The milliseconds for which an update waits for a thread.
const patienceMs = 10_000

/**
 * Decides which updates of editors are applied. Yjs can need minutes for a small update, since the time depends on the
 * document too. So an update that could take long is applied to a copy of the document first, in a thread with limits
 * of time and memory.
 */
export class UpdateGate {
  readonly #messages: Pick<MessageGate, 'aside'>
  readonly #untried = new RateLimiterMemory(untried)
  readonly #tried = new RateLimiterMemory(tried)

  constructor(messages: Pick<MessageGate, 'aside'>) {
    this.#messages = messages
  }

  /**
   * Resolves to an update that is to be applied at once. Resolves to null when its editor has to try again later,
   * because the user has caused too much work or no thread is free. Rejects with RefusedUpdate for an update that no
   * editor writes, or that takes too long.
   */
  async admit(connection: EditorConnection, bytes: Uint8Array): Promise<ClientUpdate | null> {
    const { document, context } = connection
    if (bytes.byteLength <= mostBytes && !(await isSpent(this.#untried, context.editor.userId))) {
      const update = checkUpdate(document, bytes)
      if (mostComparisons(document, update) <= mostUntriedComparisons) {
        this.#measure(connection)
        return update
      }
    }
    for (let trial = 0; trial < mostTrials; trial += 1) {
      const unseen = await this.#try(connection, bytes)
      if (unseen === null) return null
      const update = checkUpdate(document, bytes)
      if (mostComparisons(document, update, unseen) <= mostUntriedComparisons) return update
    }
    return null
  }

  // Notes the time of the next transaction, unless it is of somebody else, because the editor has left before.
  #measure(connection: EditorConnection): void {
    const { document, context } = connection
    const before = process.threadCpuUsage()
    document.once('afterAllTransactions', (_, transactions) => {
      if (!transactions.some(({ origin }) => originOf(origin).connection === connection)) return
      void this.#untried.penalty(context.editor.userId, millisecondsSince(before))
    })
  }

  /**
   * Tries an update on a copy of the document. Returns an upper bound of the structs that the document has got
   * meanwhile; null when the update cannot be tried at the moment.
   */
  async #try(connection: EditorConnection, bytes: Uint8Array): Promise<number | null> {
    const { document } = connection
    const { userId } = connection.context.editor
    if (await isSpent(this.#tried, userId)) return null
    const before = process.threadCpuUsage()
    // A thread gets a copy of the whole buffer below an array, so the update is copied out of its message.
    const input = { state: Y.encodeStateAsUpdate(document), update: bytes.slice() }
    const encodingMs = millisecondsSince(before)
    const hasKeptBack = watchKeptBack(document)
    let unseen = 0
    const see = ({ byteLength }: Uint8Array) => {
      unseen += byteLength
    }
    document.on('update', see)
    const signal = AbortSignal.timeout(patienceMs)
    try {
      const ms = await this.#messages.aside(connection, () =>
        onBehalfOf(userId, () => compute(trying, input), { signal }),
      )
      await this.#tried.penalty(userId, encodingMs + (ms ?? 0))
      if (ms === null) throw new RefusedUpdate('refused on the copy')
      return hasKeptBack() ? Number.POSITIVE_INFINITY : unseen
    } catch (error) {
      if (error instanceof ComputationLimitError) {
        await this.#tried.penalty(userId, tried.points)
        throw new RefusedUpdate(error.message)
      }
      if (error instanceof Refusal || error === signal.reason) return null
      throw error
    } finally {
      document.off('update', see)
    }
  }
}

async function isSpent(limiter: RateLimiterMemory, userId: string): Promise<boolean> {
  return (await limiter.get(userId))?.remainingPoints === 0
}

function millisecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
