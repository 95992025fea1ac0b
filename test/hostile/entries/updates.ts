import * as Y from 'yjs'
import { checkUpdate, mostComparisons } from '../../../shared/body/yjs/client-update.ts'
import { cutUpdates } from '../../../shared/body/yjs/cut-updates.ts'
import { bodyFragment, readDocument, writeNodes } from '../../../shared/body/yjs/encoding.ts'
import { repairDocument } from '../../../shared/body/yjs/repair.ts'
import { TextRescue } from '../../../shared/body/yjs/rescue.ts'
import { mergeUpdates } from '../../../shared/body/yjs/state.ts'
import type { Use } from '../entry.ts'

/** Everything that reads an update of a client, up to the body that comes of it. */
export const updateReaders: Readonly<Record<string, Use>> = {
  check: (update: Uint8Array) => {
    const doc = opened()
    return mostComparisons(doc, checkUpdate(doc, update))
  },
  rescue: (update: Uint8Array) => {
    const doc = opened()
    const rescue = new TextRescue(doc, { sourceOf: () => 'editor', origin: 'rescue' })
    rescue.apply(update, 'editor')
    rescue.close()
    return repairDocument(readDocument(bodyFragment(doc)).document, 'seed').repairs.length
  },
  merge: (update: Uint8Array) => mergeUpdates(cutUpdates([update], { structs: 1, characters: 1 })).length,
}

function opened(): Y.Doc {
  const doc = new Y.Doc()
  bodyFragment(doc).insert(0, writeNodes([{ type: 'paragraph', content: [{ type: 'text', text: 'a' }] }]))
  return doc
}
