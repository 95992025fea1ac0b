import { isAllowedHref } from './addresses.ts'
import type { Attrs, Mark } from './document.ts'
import { markTable } from './nodes.ts'
import { normaliseMarkAttributes } from './normalise-attributes.ts'
import { type NormaliseState, type Place, refuseNode, warnedBlock } from './normalise-state.ts'

const rank = new Map(Object.keys(markTable).map((type, index) => [type, index]))
const besideCode = new Set(['code', 'link'])

/**
 * The marks of an inline node in normal form: schema order, one of a type (the last wins), nothing beside `code` but
 * a link, no link to a refused scheme and no textStyle without a colour. Undefined when none is left.
 */
export function normaliseMarks(input: unknown, place: Place, state: NormaliseState): Mark[] | undefined {
  if (input === undefined || input === null) return undefined
  if (!Array.isArray(input)) throw refuseNode(place, 'marks is an array')
  const byType = new Map<string, Mark>()
  for (const given of input) {
    const mark = normaliseMark(given, place, state)
    if (mark !== null) byType.set(mark.type, mark)
  }
  if (byType.size === 0) return undefined
  const marks = [...byType.values()].sort((a, b) => (rank.get(a.type) ?? 0) - (rank.get(b.type) ?? 0))
  return byType.has('code') ? withoutExcluded(marks, place, state) : marks
}

/** True if two inline nodes carry the same marks; both lists are in normal form. */
export function sameMarks(a: Mark[] | undefined, b: Mark[] | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined || a.length !== b.length) return false
  return a.every((mark, index) => sameMark(mark, b[index]))
}

/** True if two marks in normal form are equal. */
export function sameMark(a: Mark, b: Mark | undefined): boolean {
  if (b === undefined || a.type !== b.type) return false
  return a.attrs === b.attrs || sameAttributes(a.attrs ?? {}, b.attrs ?? {})
}

// The values are texts or null; a long address is compared where it stands.
function sameAttributes(a: Attrs, b: Attrs): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}

function normaliseMark(given: unknown, place: Place, state: NormaliseState): Mark | null {
  const { type, attrs: input } = (given ?? {}) as { type?: unknown; attrs?: unknown }
  if (typeof type !== 'string' || !rank.has(type)) throw refuseNode(place, `there is no mark ${JSON.stringify(type)}`)
  if (input !== undefined && input !== null && (typeof input !== 'object' || Array.isArray(input))) {
    throw refuseNode(place, 'attrs of a mark is an object')
  }
  const attrs = normaliseMarkAttributes(type, (input ?? {}) as Record<string, unknown>, place)
  if (type === 'textStyle' && attrs === undefined) return null
  if (type === 'link' && !isAllowedHref(String(attrs?.href))) {
    const message = 'A link was removed: its address has a scheme that is not allowed.'
    state.warnings.push({ code: 'link_removed', message, block_id: warnedBlock(place) })
    return null
  }
  return attrs === undefined ? { type } : { attrs, type }
}

function withoutExcluded(marks: Mark[], place: Place, state: NormaliseState): Mark[] {
  const kept = marks.filter((mark) => besideCode.has(mark.type))
  if (kept.length === marks.length) return marks
  const lost = marks.filter((mark) => !besideCode.has(mark.type)).map((mark) => mark.type)
  const message = `Inline code has no other marks beside it: ${lost.join(', ')} left out.`
  state.warnings.push({ code: 'marks_dropped', message, block_id: warnedBlock(place) })
  return kept
}
