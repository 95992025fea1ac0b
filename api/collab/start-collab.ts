import { randomUUID } from 'node:crypto'
import { endedSessionsChannel } from '../../shared/auth/sessions.ts'
import { liveBodiesChannel, readChangedBody } from '../../shared/body/live/notifications.ts'
import type { Config } from '../../shared/config/config.ts'
import { bodyConsequences } from '../../shared/consequences/body.ts'
import { openDatabase } from '../../shared/database/database.ts'
import { listen } from '../../shared/database/listener.ts'
import { sessionName } from '../../shared/health/queries.ts'
import { logQueueError, openJobs } from '../../shared/jobs/send.ts'
import type { Logger } from '../../shared/process/log.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import { observeProcess } from '../operations/process-metrics.ts'
import { DocumentStore } from './document-operations.ts'
import { createCollabMetrics } from './metrics.ts'
import { openPeers } from './peers/peers.ts'
import { Rooms } from './rooms.ts'

const poolSize = 12

/**
 * Opens the parts of the process: pool, job queue, rooms, the relay to other processes, the listener for changed
 * bodies and ended sessions. The database must be migrated before. `sockets` tells the number of open sockets for the
 * metrics.
 */
export async function startCollab({ config, log, sockets }: { config: Config; log: Logger; sockets: () => number }) {
  const database = await openDatabase({ url: config.DATABASE_URL, poolSize, name: sessionName('collab', randomUUID()) })
  const jobs = await openJobs({ database, onError: (error) => logQueueError(log, error) })
  const metrics = createCollabMetrics(() => ({ ...rooms.figures, sockets: sockets() }))
  observeProcess({ registry: metrics.registry, database })
  const store = new DocumentStore({ database, jobs, config, consequences: { body: bodyConsequences } })
  const rateLimiter = createRateLimiter({ database, config, log })
  const peers = openPeers({ url: config.DATABASE_URL, log, registry: metrics.registry })
  const rooms: Rooms = new Rooms({ database, store, peers, rateLimiter, metrics, log, config })
  const listener = listen({
    url: config.DATABASE_URL,
    channel: [liveBodiesChannel, endedSessionsChannel],
    onNotify(payload, channel) {
      // Without a payload, notifications may have been missed.
      if (payload === null) {
        rooms.checkRights()
        rooms.noticeAll()
      } else if (channel === endedSessionsChannel) rooms.checkRights(payload)
      else rooms.notice(readChangedBody(payload))
    },
    onError: (err) => log.warn({ err }, 'listening for changed bodies'),
  })
  return {
    database,
    metrics,
    rooms,
    async close() {
      rooms.close()
      await peers.close()
      await listener.close()
      await jobs.stop()
      await database.end()
    },
  }
}
