import { ulid } from 'ulid'
import type { Database } from '../../shared/database/database.ts'
import { releaseLeases, renewLeases, type StreamLease, takeLease } from '../../shared/events/stream-leases.ts'

/** The leases of this process. */
export type Leases = {
  /** Null when the token has as many streams as it may, in all processes together. */
  take: (tokenId: string) => Promise<StreamLease | null>
  renew: (leases: readonly StreamLease[]) => Promise<void>
  /** Gives a lease back in the background. One that cannot be given back expires by itself. */
  release: (lease: StreamLease) => void
  /** Resolves when everything is given back. */
  settled: () => Promise<void>
}

/** Leases that outlive their last renewal, due every `renewedSeconds`, by no more than a few seconds. */
export function openLeases(options: {
  database: Database
  /** Streams of one token. */
  limit: number
  renewedSeconds: number
  onError: (error: unknown) => void
}): Leases {
  const { database, limit } = options
  const seconds = options.renewedSeconds + graceSeconds
  const releases = new Set<Promise<void>>()
  return {
    async take(tokenId) {
      const lease = { tokenId, streamId: ulid() }
      return (await takeLease(database, { ...lease, limit, seconds })) ? lease : null
    },
    async renew(leases) {
      if (leases.length > 0) await renewLeases(database, { leases, seconds })
    },
    release(lease) {
      const released = releaseLeases(database, [lease])
        .catch(options.onError)
        .finally(() => releases.delete(released))
      releases.add(released)
    },
    async settled() {
      await Promise.all(releases)
    },
  }
}

// How long the streams of a process that died still count.
const graceSeconds = 5
