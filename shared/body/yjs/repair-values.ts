import { createHash } from 'node:crypto'
import { blockIdPattern } from '../../schema/ids.ts'
import { isAllowedHref, isAllowedSrc, isAttachmentId } from '../addresses.ts'
import { type Attribute, requiredAddress } from '../attributes.ts'
import type { Attrs, BodyNode, Json, Mark } from '../document.ts'
import { inlineTypes, isBlockType, isTextblock, markTable, nodeTable } from '../nodes.ts'
import { Keepers } from './keepers.ts'
import { idOrNull, type Repair } from './repair-nodes.ts'

const blockId = new RegExp(blockIdPattern)
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A string without U+0000 and lone surrogates, which neither PostgreSQL nor Yjs can keep. */
export function repairString(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed()
}

/**
 * The attributes of a node with valid values. Values that the type does not take become their default, and required
 * attributes are added. Returns the same object if nothing is wrong. The normaliser removes unknown attributes.
 */
export function repairAttributes(node: BodyNode): Attrs | undefined {
  const table = nodeTable[node.type]?.attrs ?? {}
  const attrs = repairValues(node.attrs, table)
  if (node.type !== 'image' && node.type !== 'inlineImage') return attrs
  const { src, attachmentId, ...rest } = attrs ?? {}
  const badSrc = typeof src === 'string' && !isAllowedSrc(src)
  const badAttachment = typeof attachmentId === 'string' && !isAttachmentId(attachmentId)
  if (!badSrc && !badAttachment) return attrs
  return {
    ...rest,
    ...(!badSrc && src !== undefined && { src }),
    ...(!badAttachment && attachmentId !== undefined && { attachmentId }),
  }
}

/** The marks of our schema with valid attributes. Returns the same array if nothing is wrong. */
export function repairMarks(marks: Mark[] | undefined): Mark[] | undefined {
  if (!marks) return marks
  const repaired = marks.flatMap((mark) => repairMark(mark))
  return repaired.length === marks.length && repaired.every((mark, index) => mark === marks[index]) ? marks : repaired
}

/** A set of ids that a new id must not equal. */
export type TakenIds = { has: (id: string) => boolean; add: (id: string) => void }

/** True if a block already had its id before. Such a block keeps the id. */
export type HoldsId = (block: BodyNode) => boolean

/**
 * A repair of block ids. When several blocks have the same id, one keeps the id, and the others get derived ids. A
 * block that held the id before comes before a block that is not empty, which comes before an empty block. `Keepers`
 * decides among equals.
 */
export class IdRepair {
  readonly repairs: Repair[] = []
  readonly #seed: string
  readonly #taken: TakenIds
  readonly #kept: ReadonlySet<string>
  readonly #keepers: Keepers<BodyNode>
  #nearest = ''

  /** `kept` has the ids that blocks outside of this repair keep. */
  constructor(repair: { seed: string; taken: TakenIds; kept: ReadonlySet<string>; holds: HoldsId }) {
    const { seed, taken, kept, holds } = repair
    this.#seed = seed
    this.#taken = taken
    this.#kept = kept
    this.#keepers = new Keepers((block) => rankOf(block, holds))
  }

  /** Looks at a block and all blocks in it. All blocks are looked at, in document order, before any is repaired. */
  look(node: BodyNode, level = 1): void {
    if (!isBlockType(node.type)) return
    const id = node.attrs?.id
    if (isBlockId(id)) this.#keepers.add(id, node, level)
    for (const child of node.content ?? []) this.look(child, level + 1)
  }

  /** Names the block before the next block. A block without an id gets an id that follows from this block's id. */
  follow(id: string): void {
    this.#nearest = id
  }

  /** A copy of a block in which the block itself and every block in it have ids of their own. */
  repaired(node: BodyNode): BodyNode {
    if (!isBlockType(node.type)) return node
    const given = node.attrs?.id
    const keeps = isBlockId(given) && !this.#kept.has(given) && this.#keepers.get(given) === node
    const id = keeps ? given : this.#newId(isBlockId(given) ? given : this.#nearest)
    if (!keeps) {
      const kind = isBlockId(given) ? 'id_changed' : 'id_added'
      this.repairs.push({ kind, type: node.type, block_id: idOrNull(node) })
    }
    this.#nearest = id
    const content = node.content?.map((child) => this.repaired(child))
    return { ...node, ...(keeps ? {} : { attrs: { ...node.attrs, id } }), ...(content && { content }) }
  }

  /** The first id derived from `origin` that no block has. */
  #newId(origin: string): string {
    for (let ordinal = 1; ; ordinal++) {
      const id = derivedId(JSON.stringify([this.#seed, origin, ordinal]))
      if (this.#taken.has(id)) continue
      this.#taken.add(id)
      return id
    }
  }
}

/** True for a text in the form of a block id. */
export function isBlockId(value: unknown): value is string {
  return typeof value === 'string' && blockId.test(value)
}

/** Adds all ids below nodes to a set: ids of blocks, valid or not, and of mentions. */
export function idsIn(nodes: readonly BodyNode[], ids: Set<string>): Set<string> {
  for (const node of nodes) {
    if (typeof node.attrs?.id === 'string') ids.add(node.attrs.id)
    if (node.content) idsIn(node.content, ids)
  }
  return ids
}

function rankOf(block: BodyNode, holds: HoldsId): number {
  if (holds(block)) return 2
  return isEmpty(block) ? 0 : 1
}

/** True if nothing can be seen of a block: it has no text, no inline node and no block without content in it. */
function isEmpty({ type, content = [] }: BodyNode): boolean {
  if (inlineTypes.has(type) || (content.length === 0 && !isTextblock(type))) return false
  return content.every(isEmpty)
}

type Table = { [name: string]: Attribute }

function repairMark(mark: Mark): Mark[] {
  const row = Object.hasOwn(markTable, mark.type) ? markTable[mark.type] : undefined
  if (!row) return []
  if (mark.type === 'link' && !isTakenHref(mark.attrs?.href)) return []
  const attrs = repairValues(mark.attrs, row.attrs ?? {})
  return [attrs === mark.attrs ? mark : { type: mark.type, ...(attrs && { attrs }) }]
}

function isTakenHref(href: Json | undefined): boolean {
  return requiredAddress.check(href) === null && isAllowedHref(String(href))
}

function repairValues(given: Attrs | undefined, table: Table): Attrs | undefined {
  const changes = Object.entries(table).flatMap(([name, attribute]): [string, Json | undefined][] => {
    const value = given && Object.hasOwn(given, name) ? given[name] : undefined
    const repaired = repairValue(value, attribute)
    return repaired === value ? [] : [[name, repaired]]
  })
  if (changes.length === 0) return given
  const entries = Object.entries({ ...given, ...Object.fromEntries(changes) })
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

function repairValue(value: Json | undefined, attribute: Attribute): Json | undefined {
  if (value === undefined || value === null) return attribute.required ? '' : value
  if (attribute.check(value) !== null) return attribute.required ? '' : undefined
  return typeof value === 'string' ? repairString(value) : value
}

/** Writes 128 bits of a hash as the 26 characters of a ULID. */
function derivedId(source: string): string {
  const digest = createHash('sha256').update(source).digest('hex').slice(0, 32)
  let rest = BigInt(`0x${digest}`)
  let characters = ''
  for (let digit = 0; digit < 26; digit++) {
    characters = crockford.charAt(Number(rest & 31n)) + characters
    rest >>= 5n
  }
  return `block_${characters}`
}
