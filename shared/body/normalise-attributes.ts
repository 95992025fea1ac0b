import { attachmentIdOf, attachmentSrc, isAllowedHref, isAllowedSrc, isAttachmentId } from './addresses.ts'
import type { Attribute } from './attributes.ts'
import type { Attrs, Json, Mark } from './document.ts'
import { markTable, nodeTable } from './nodes.ts'
import { checkText, type NormaliseState, type Pointer, refuse, refuseNode, warnedBlock } from './normalise-state.ts'

type Given = Record<string, unknown>
type Row = { name: string; attribute: Attribute }
type NodeAttributes = { type: string; given: Given; id: string | null; pointer: Pointer; state: NormaliseState }

// The attributes of each type are sorted by name, so that the canonical form needs no further sorting.
const nodeRows = new Map(Object.entries(nodeTable).map(([type, row]) => [type, rowsOf(row.attrs)]))
const markRows = new Map(Object.entries(markTable).map(([type, row]) => [type, rowsOf(row.attrs)]))
const pictures = new Set(['image', 'inlineImage'])
const none: Row[] = []
const rank = new Map(Object.keys(markTable).map((type, index) => [type, index]))
const besideCode = new Set(['code', 'link'])

/**
 * The attributes of a node in normal form: sorted, with the block id, without unknown attributes and without values
 * that equal the default. Null for an image from Markdown whose address may not be shown.
 */
export function normaliseAttributes({ type, given, id, pointer, state }: NodeAttributes): Attrs | null {
  const rows = nodeRows.get(type) ?? none
  const source = pictures.has(type) ? pictureAddress(given, pointer, state) : given
  if (source === null) return null
  if (rows.length === 0) return id === null ? {} : { id }
  const attrs: Attrs = {}
  let pending = id
  for (const row of rows) {
    if (pending !== null && row.name > 'id') {
      attrs.id = pending
      pending = null
    }
    setAttribute(attrs, row, source, pointer)
  }
  if (pending !== null) attrs.id = pending
  return attrs
}

/**
 * The marks of an inline node in normal form: in the order of `markTable`, and with one mark of a type (the last wins).
 * Beside `code` only a link stays. Links with a refused scheme and `textStyle` without a colour are left out. Undefined
 * when no mark is left.
 */
export function normaliseMarks(input: unknown, pointer: Pointer, state: NormaliseState): Mark[] | undefined {
  if (input === undefined || input === null) return undefined
  if (!Array.isArray(input)) throw refuseNode(pointer, 'marks is an array')
  const byType = new Map<string, Mark>()
  for (const given of input) {
    const mark = normaliseMark(given, pointer, state)
    if (mark !== null) byType.set(mark.type, mark)
  }
  if (byType.size === 0) return undefined
  const marks = [...byType.values()].sort((a, b) => (rank.get(a.type) ?? 0) - (rank.get(b.type) ?? 0))
  return byType.has('code') ? withoutExcluded(marks, pointer, state) : marks
}

function setAttribute(attrs: Attrs, { name, attribute }: Row, given: Given, pointer: Pointer): void {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if (value === undefined || value === null) {
    if (attribute.required) throw refuseNode(pointer, `attrs.${name} is missing`)
    if (attribute.always) attrs[name] = attribute.default as Json
    return
  }
  const expected = attribute.check(value)
  if (expected !== null) throw refuseNode(pointer, `attrs.${name} has to be ${expected}`)
  if (typeof value === 'string') checkText(value, pointer)
  if (attribute.always || value !== attribute.default) attrs[name] = value as Json
}

// An image that names an attachment by `attachmentId` gets the address of the attachment. An image whose address is the
// address of an attachment names the attachment too.
function pictureAddress(given: Given, pointer: Pointer, state: NormaliseState): Given | null {
  const { attachmentId, src } = given
  if (attachmentId !== undefined && attachmentId !== null) return withAttachment(given, attachmentId, pointer, state)
  if (src === '') return { ...given, src: null }
  if (typeof src !== 'string') return given
  const named = attachmentIdOf(src)
  if (named !== null) return withAttachment(given, named, pointer, state)
  if (isAllowedSrc(src)) return given
  if (state.context.from === 'json')
    throw refuseNode(pointer, 'attrs.src has to be http, https or a relative reference')
  const message = 'An image was left out: only http, https and relative addresses are shown.'
  state.warnings.push({ code: 'image_dropped', message, block_id: warnedBlock(pointer) })
  return null
}

function withAttachment(given: Given, id: unknown, pointer: Pointer, state: NormaliseState): Given {
  if (typeof id !== 'string') throw refuseNode(pointer, 'attrs.attachmentId has to be a string')
  if (!isAttachmentId(id)) throw refuse('attachment_not_found', pointer, 'attrs.attachmentId is no attachment id')
  if (!state.attachments.has(id)) state.attachments.set(id, pointer)
  return { ...given, attachmentId: id, src: attachmentSrc(id) }
}

function rowsOf(attributes: { [name: string]: Attribute } = {}): Row[] {
  const rows = Object.entries(attributes).map(([name, attribute]) => ({ name, attribute }))
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function normaliseMark(given: unknown, pointer: Pointer, state: NormaliseState): Mark | null {
  const { type, attrs: input } = (given ?? {}) as { type?: unknown; attrs?: unknown }
  if (typeof type !== 'string' || !rank.has(type)) throw refuseNode(pointer, `there is no mark ${JSON.stringify(type)}`)
  if (input !== undefined && input !== null && (typeof input !== 'object' || Array.isArray(input))) {
    throw refuseNode(pointer, 'attrs of a mark is an object')
  }
  const attrs = normaliseMarkAttributes(type, (input ?? {}) as Record<string, unknown>, pointer)
  if (type === 'textStyle' && attrs === undefined) return null
  if (type === 'link' && !isAllowedHref(String(attrs?.href))) {
    const message = 'A link was removed: its address has a scheme that is not allowed.'
    state.warnings.push({ code: 'link_removed', message, block_id: warnedBlock(pointer) })
    return null
  }
  return attrs === undefined ? { type } : { attrs, type }
}

function withoutExcluded(marks: Mark[], pointer: Pointer, state: NormaliseState): Mark[] {
  const kept = marks.filter((mark) => besideCode.has(mark.type))
  if (kept.length === marks.length) return marks
  const lost = marks.filter((mark) => !besideCode.has(mark.type)).map((mark) => mark.type)
  const message = `Inline code has no other marks beside it: ${lost.join(', ')} left out.`
  state.warnings.push({ code: 'marks_dropped', message, block_id: warnedBlock(pointer) })
  return kept
}

// The attributes of a mark in normal form; undefined when no attribute is left.
function normaliseMarkAttributes(type: string, given: Given, pointer: Pointer): Attrs | undefined {
  const rows = markRows.get(type) ?? none
  if (rows.length === 0) return undefined
  const attrs: Attrs = {}
  for (const row of rows) setAttribute(attrs, row, given, pointer)
  return Object.keys(attrs).length > 0 ? attrs : undefined
}
