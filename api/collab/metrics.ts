import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The figures of a process at the moment of a scrape. */
type CollabFigures = {
  documents: number
  connections: number
  sockets: number
  /** Bytes of typed text that no commit has stored yet. */
  pendingBytes: number
}

/** The reasons of this process for ending a socket or a connection, as far as they are counted. */
type CutReason = 'slow' | 'unauthenticated' | 'unused' | 'malformed' | 'overloaded' | 'deleted' | 'revoked'

/** The outcomes of a flush: stored, refused for what the document holds, or failed. */
type FlushOutcome = 'done' | 'refused' | 'failed'

/** The metrics of a collab process. */
export type CollabMetrics = {
  registry: Registry
  /** Counts the bytes of one message. */
  bytes: (direction: 'in' | 'out', count: number) => void
  /** Counts one flush, which took `seconds` from its beginning to the end of its commit. */
  flushed: (outcome: FlushOutcome, seconds: number) => void
  /** Counts one write of another process, which reached the editors `seconds` after its notification. */
  followed: (seconds: number) => void
  cut: (reason: CutReason) => void
}

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Creates the metrics of live editing on a new registry. `figures` is asked at each scrape. */
export function createCollabMetrics(figures: () => CollabFigures): CollabMetrics {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, read: (now: CollabFigures) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(figures()))
      },
    })
  gauge('svc_collab_documents', 'Open documents', ({ documents }) => documents)
  gauge('svc_collab_connections', 'Connections of editors to documents', ({ connections }) => connections)
  gauge('svc_collab_sockets', 'Open sockets, each with any number of connections', ({ sockets }) => sockets)
  gauge('svc_collab_pending_bytes', 'Bytes of typed text that are not stored yet', ({ pendingBytes }) => pendingBytes)
  const bytes = new Counter({
    name: 'svc_collab_bytes_total',
    help: 'Bytes of messages from and to editors',
    labelNames: ['direction'],
    registers,
  })
  const flushes = new Histogram({
    name: 'svc_collab_flush_seconds',
    help: 'Duration of flushes by outcome',
    labelNames: ['outcome'],
    buckets: bounds,
    registers,
  })
  const follows = new Histogram({
    name: 'svc_collab_follow_seconds',
    help: 'Time from the notification of a write until its change has gone to the editors',
    buckets: bounds,
    registers,
  })
  const cuts = new Counter({
    name: 'svc_collab_cut_total',
    help: 'Sockets and connections that the process has closed, by reason',
    labelNames: ['reason'],
    registers,
  })
  return {
    registry,
    bytes: (direction, count) => bytes.inc({ direction }, count),
    flushed: (outcome, seconds) => flushes.observe({ outcome }, seconds),
    followed: (seconds) => follows.observe(seconds),
    cut: (reason) => cuts.inc({ reason }),
  }
}
