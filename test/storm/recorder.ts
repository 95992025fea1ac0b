import * as Y from 'yjs'
import { type Keystroke, type Ledger, typedIn } from './ledger.ts'

/** What an editor is doing when a transaction of its Y document begins, and whether it sees what others do at once. */
export type Doing = { by: string; action: string; typing: string | null; isOnline: () => boolean }

/**
 * Writes everything that a replica does and receives into the ledger of its document: what its own transactions remove
 * or insert again, which ids blocks have, and when characters of others arrive.
 */
export function recordReplica(doc: Y.Doc, { ledger, doing }: { ledger: Ledger; doing: Doing }): void {
  doc.on('afterTransaction', (transaction: Y.Transaction) => {
    const { inserted, elements } = insertedBy(transaction)
    for (const element of elements) noteId(ledger, element)
    for (const [type, keys] of transaction.changed) {
      if (type instanceof Y.XmlElement && keys.has('id')) noteId(ledger, type)
    }
    const at = Date.now()
    if (transaction.local) recordRemoval(transaction, { ledger, doing, inserted, elements, at })
    else if (doing.isOnline()) for (const character of inserted) ledger.arrived(character, at)
  })
}

/** The ids of the blocks and of the Y elements around a Y text, innermost first. */
export function placeOf(text: Y.XmlText): Pick<Keystroke, 'blocks' | 'elements'> {
  const blocks: string[] = []
  const elements: string[] = []
  for (let type: unknown = text; type instanceof Y.AbstractType && type._item; type = type.parent) {
    elements.push(nameOf(type._item))
    const id = type instanceof Y.XmlElement ? (type.getAttribute('id') as unknown) : undefined
    if (typeof id === 'string') blocks.push(id)
  }
  return { blocks, elements }
}

type Inserted = { inserted: Set<string>; elements: Y.XmlElement[] }

function recordRemoval(
  transaction: Y.Transaction,
  { ledger, doing, inserted, elements, at }: Inserted & { ledger: Ledger; doing: Doing; at: number },
): void {
  const removed = removedBy(transaction)
  for (const character of inserted) {
    if (character !== doing.typing) ledger.copied.add(character)
    removed.characters.delete(character)
  }
  if (removed.characters.size === 0 && removed.elements.size === 0) return
  const remade = new Set(elements.map((element) => element.getAttribute('id') as unknown).filter(isText))
  const { clientID: client, store } = transaction.doc
  const clock = { client, clock: Y.getState(store, client) }
  ledger.removals.push({ by: doing.by, action: doing.action, at, clock, storedAt: null, ...removed, remade })
}

function removedBy(transaction: Y.Transaction) {
  const [characters, elements, blocks] = [new Set<string>(), new Set<string>(), new Set<string>()]
  Y.iterateDeletedStructs(transaction, transaction.deleteSet, (struct) => {
    if (!(struct instanceof Y.Item)) return
    const { content } = struct
    if (content instanceof Y.ContentString) for (const character of typedIn(content.str)) characters.add(character)
    if (!(content instanceof Y.ContentType)) return
    elements.add(nameOf(struct))
    const id = content.type._map.get('id')?.content.getContent().at(-1) as unknown
    if (isText(id)) blocks.add(id)
  })
  return { characters, elements, blocks }
}

function insertedBy({ doc, beforeState, afterState }: Y.Transaction): Inserted {
  const inserted = new Set<string>()
  const elements: Y.XmlElement[] = []
  for (const [client, clock] of afterState) {
    const from = beforeState.get(client) ?? 0
    const structs = doc.store.clients.get(client) ?? []
    if (clock <= from) continue
    for (let index = Y.findIndexSS(structs, from); index < structs.length; index += 1) {
      const struct = structs[index]
      if (!(struct instanceof Y.Item) || struct.deleted) continue
      if (struct.content instanceof Y.ContentString) for (const one of typedIn(struct.content.str)) inserted.add(one)
      const type = struct.content instanceof Y.ContentType ? struct.content.type : null
      if (type instanceof Y.XmlElement) elements.push(type)
    }
  }
  return { inserted, elements }
}

function noteId(ledger: Ledger, element: Y.XmlElement): void {
  const id = element.getAttribute('id') as unknown
  if (element._item !== null && isText(id)) ledger.addId(nameOf(element._item), id)
}

function nameOf({ id }: Y.Item): string {
  return `${id.client}:${id.clock}`
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
