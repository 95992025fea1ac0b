import { applyUpdate, type Doc } from 'yjs'
import type { PageData } from './page-data.ts'

/**
 * Reads the document as the service has stored it into `live`, so that the editor need not wait for live editing.
 * Without an answer, `live` stays as it is: live editing then brings everything, or says why it does not.
 */
export async function readStoredState(live: Doc, { documentId }: PageData): Promise<void> {
  try {
    const response = await fetch(`/d/${documentId}/state`, { redirect: 'manual' })
    if (response.status !== 200) return
    const bytes = await response.arrayBuffer()
    live.transact(() => {
      for (const update of updatesIn(bytes)) applyUpdate(live, update)
    })
  } catch {
    // The service is out of reach.
  }
}

// Each update stands behind its length in four bytes.
function updatesIn(bytes: ArrayBuffer): Uint8Array[] {
  const lengths = new DataView(bytes)
  const updates: Uint8Array[] = []
  for (let at = 0; at < bytes.byteLength; ) {
    const length = lengths.getUint32(at)
    updates.push(new Uint8Array(bytes, at + 4, length))
    at += 4 + length
  }
  return updates
}
