import { Counter, Gauge, type Registry } from 'prom-client'

/** The counters of the relay. */
export type RelayMetrics = {
  messages: Counter<'direction'>
  bytes: Counter<'direction'>
  dropped: Counter
}

/** Registers the metrics of the relay. `peers` tells how many processes hold a document of this process. */
export function relayMetrics(registry: Registry, peers: () => number): RelayMetrics {
  const registers = [registry]
  new Gauge({
    name: 'svc_collab_peers',
    help: 'Other collab processes that hold a document of this process',
    registers,
    collect() {
      this.set(peers())
    },
  })
  return {
    messages: new Counter({
      name: 'svc_collab_relayed_messages_total',
      help: 'Messages that were sent to other collab processes or received from them',
      labelNames: ['direction'],
      registers,
    }),
    bytes: new Counter({
      name: 'svc_collab_relayed_bytes_total',
      help: 'Bytes of these messages',
      labelNames: ['direction'],
      registers,
    }),
    dropped: new Counter({
      name: 'svc_collab_relay_dropped_chunks_total',
      help: 'Chunks of messages that were lost, incomplete or malformed; the log makes up for them',
      registers,
    }),
  }
}
