import { ulid } from 'ulid'
import type { Database } from '../../shared/database/database.ts'
import { releaseLeases, renewLeases, type StreamLease, takeLease } from '../../shared/events/stream-leases.ts'

// The seconds for which a lease still counts after its renewal was due.
const graceSeconds = 5

/** The leases of the streams of this process. */
export type Leases = {
  /** Takes a lease; null when the credential already has as many streams as it may, in all processes together. */
  take: (credentialId: string) => Promise<StreamLease | null>
  /** Renews leases, so that they last until the next renewal and a grace of five seconds. */
  renew: (leases: readonly StreamLease[]) => Promise<void>
  /** Releases a lease in the background. A lease that cannot be released expires by itself. */
  release: (lease: StreamLease) => void
  /** Resolves when every release has ended. */
  settled: () => Promise<void>
}

/**
 * Manages the leases of streams. The caller renews them every `renewedSeconds`. The leases of a process that died
 * expire five seconds after their next renewal was due.
 */
export function openLeases(options: {
  database: Database
  /** The most streams of one credential, in all processes together. */
  limit: number
  renewedSeconds: number
  onError: (error: unknown) => void
}): Leases {
  const { database, limit } = options
  const seconds = options.renewedSeconds + graceSeconds
  const releases = new Set<Promise<void>>()
  return {
    async take(credentialId) {
      const lease = { credentialId, streamId: ulid() }
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
