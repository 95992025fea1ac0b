import { createHash } from 'node:crypto'
import { blockIdPattern } from '../../schema/ids.ts'
import type { BodyNode } from '../document.ts'
import { isBlockType } from '../nodes.ts'
import type { Repair } from './repair-pass.ts'

/** What ids follow from, and where changes are reported. */
export type IdRepair = { seed: string; repairs: Repair[] }

/** Gives every block an id of its own. The first block in document order keeps a doubled id; others get derived ones. */
export function repairIds(nodes: readonly BodyNode[], { seed, repairs }: IdRepair): BodyNode[] {
  const taken = idsIn(nodes, new Set())
  const met = new Set<string>()
  let nearest = ''
  const visit = (node: BodyNode): BodyNode => {
    if (!isBlockType(node.type)) return node
    const given = node.attrs?.id
    const keeps = isBlockId(given) && !met.has(given)
    const id = keeps ? given : freeId({ seed, origin: isBlockId(given) ? given : nearest, taken })
    if (!keeps)
      repairs.push({
        kind: isBlockId(given) ? 'id_changed' : 'id_added',
        type: node.type,
        block_id: given ? String(given) : null,
      })
    met.add(id)
    nearest = id
    const content = node.content?.map(visit)
    return { ...node, ...(keeps ? {} : { attrs: { ...node.attrs, id } }), ...(content && { content }) }
  }
  return nodes.map(visit)
}

const blockId = new RegExp(blockIdPattern)
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

function isBlockId(value: unknown): value is string {
  return typeof value === 'string' && blockId.test(value)
}

/** The first id for the origin that no block has. Takes it. */
function freeId({ seed, origin, taken }: { seed: string; origin: string; taken: Set<string> }): string {
  for (let ordinal = 1; ; ordinal++) {
    const id = derivedId(JSON.stringify([seed, origin, ordinal]))
    if (taken.has(id)) continue
    taken.add(id)
    return id
  }
}

/** 128 bits of a hash as the 26 characters of a ULID. */
function derivedId(source: string): string {
  const digest = createHash('sha256').update(source).digest('hex').slice(0, 32)
  let rest = BigInt(`0x${digest}`)
  let characters = ''
  for (let place = 0; place < 26; place++) {
    characters = crockford.charAt(Number(rest & 31n)) + characters
    rest >>= 5n
  }
  return `block_${characters}`
}

function idsIn(nodes: readonly BodyNode[], ids: Set<string>): Set<string> {
  for (const node of nodes) {
    if (typeof node.attrs?.id === 'string') ids.add(node.attrs.id)
    if (node.content) idsIn(node.content, ids)
  }
  return ids
}
