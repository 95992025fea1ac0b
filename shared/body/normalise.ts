import { newId } from '../schema/ids.ts'
import { checkBytes, checkCharacters, maximumDepth } from './body-limits.ts'
import type { BlockNode, BodyNode, DocNode, Warning } from './document.ts'
import { sameMarks } from './marks.ts'
import { bodySchema, inlineTypes, isTextblock } from './nodes.ts'
import { normaliseAttributes, normaliseMarks } from './normalise-attributes.ts'
import {
  adoptBlockId,
  checkText,
  countCharacters,
  countNode,
  type NamedAttachments,
  type NormaliseContext,
  type NormaliseState,
  newState,
  type Pointer,
  refuseNode,
} from './normalise-state.ts'

export type { NormaliseContext } from './normalise-state.ts'

/** A normalised body and the findings of the normaliser. */
export type Normalised<T> = {
  result: T
  warnings: Warning[]
  /** The attachments that images name. The caller checks that the newly named attachments exist. */
  attachments: NamedAttachments
  /** The block ids that came with the input. */
  givenIds: string[]
  /** The number of nodes without texts, and of code points of text, as the limits count them. */
  nodes: number
  characters: number
}

/** A new empty paragraph, for a body or a cell that would otherwise hold nothing. */
export function emptyParagraph(): BlockNode {
  return { attrs: { id: newId('block') }, type: 'paragraph' }
}

/**
 * Brings a whole body into the normal form that is stored and hashed. Ids are added, texts merged, marks ordered,
 * default and unknown attributes left out, object keys sorted. The input may be any JSON and is not changed. Refuses
 * with 422 `invalid_node`, `invalid_block_id`, `duplicate_block_id`, `attachment_not_found` (a text that has not the
 * form of an attachment id) or `document_too_large`. The details have the JSON pointer of the node.
 */
export function normaliseDocument(input: unknown, context: NormaliseContext): Normalised<DocNode> {
  const state = newState(context)
  const pointer = rootPointer(context)
  if (!isRecord(input) || input.type !== 'doc') throw refuseNode(pointer, 'a document is an object of type "doc"')
  const children = childrenOf(input, pointer)
  const content = normaliseChildren({ type: 'doc', children, pointer, depth: 0, state }) as BlockNode[]
  return finish({ type: 'doc', content: content.length > 0 ? content : [emptyParagraph()] }, state)
}

/**
 * Normalises nodes that are to be inserted into a body; each must be a node with a block id. The caller checks whether
 * each node may stand at its position and whether its ids are free. Refuses with 422 `invalid_node`,
 * `invalid_block_id`, `duplicate_block_id`, `attachment_not_found` or `document_too_large`.
 */
export function normaliseBlocks(input: unknown, context: NormaliseContext): Normalised<BlockNode[]> {
  const state = newState(context)
  const pointer = rootPointer(context)
  if (!Array.isArray(input)) throw refuseNode(pointer, 'expected an array of nodes')
  const blocks = input.map((child, index) =>
    freestandingBlock(child, { ...pointer, path: `${pointer.path}/${index}` }, state),
  )
  return finish(blocks, state)
}

/**
 * Normalises one node that is to be inserted into a body. The path of the context is the pointer of the node. Refuses
 * with 422 `invalid_node`, `invalid_block_id`, `duplicate_block_id`, `attachment_not_found` or `document_too_large`.
 */
export function normaliseSingleBlock(input: unknown, context: NormaliseContext): Normalised<BlockNode> {
  const state = newState(context)
  return finish(freestandingBlock(input, rootPointer(context), state), state)
}

type Visit = { input: unknown; parentType: string | null; pointer: Pointer; depth: number; state: NormaliseState }
type Children = { type: string; children: unknown[]; pointer: Pointer; depth: number; state: NormaliseState }

function rootPointer({ path = '', operationIndex }: NormaliseContext): Pointer {
  return { path, blockId: null, operationIndex }
}

function freestandingBlock(input: unknown, pointer: Pointer, state: NormaliseState): BlockNode {
  const node = normaliseNode({ input, parentType: null, pointer, depth: 1, state })
  if (node === null || inlineTypes.has(node.type)) throw refuseNode(pointer, 'expected a node that carries a block id')
  return node as BlockNode
}

function finish<T>(result: T, state: NormaliseState): Normalised<T> {
  const { warnings, attachments, nodes, characters } = state
  checkCharacters(characters, state.context.characterLimit)
  return { result, warnings, attachments, givenIds: [...state.ids], nodes, characters }
}

function normaliseChildren({ type, children, pointer, depth, state }: Children): BodyNode[] {
  const result: BodyNode[] = []
  let match = bodySchema.nodes[type]?.contentMatch
  for (let index = 0; index < children.length; index++) {
    const inner = { ...pointer, path: pathOfChild(pointer.path, index, state) }
    const node = normaliseNode({ input: children[index], parentType: type, pointer: inner, depth: depth + 1, state })
    if (node === null) continue
    if (node.type === 'frontmatter' && (type !== 'doc' || result.length > 0)) {
      throw refuseNode(inner, 'frontmatter may only be the first block of a document')
    }
    const isMerged = node.type === 'text' && mergeText(result.at(-1), node)
    countBytes(state, isMerged ? Buffer.byteLength(node.text ?? '') : leastBytes(node))
    if (isMerged) continue
    const childType = bodySchema.nodes[node.type]
    match = (childType && match?.matchType(childType)) ?? undefined
    if (match === undefined) throw refuseNode(inner, `a ${node.type} may not stand here in a ${type}`)
    result.push(node)
  }
  const isEmptyDoc = type === 'doc' && result.length === 0
  if (!match?.validEnd && !isEmptyDoc) throw refuseNode(pointer, `the content of a ${type} is incomplete`)
  return result
}

// A caller that sends Markdown sees one text and no nodes. So in Markdown every node has the JSON pointer of the whole
// text.
function pathOfChild(path: string, index: number, { context }: NormaliseState): string {
  return context.from === 'markdown' ? path : `${path}/content/${index}`
}

function countBytes(state: NormaliseState, bytes: number): void {
  state.bytes += bytes
  checkBytes(state.bytes, state.context.byteLimit)
}

// A lower bound of the bytes that the node takes in its stored line. The nodes inside are left out, because they were
// counted before.
function leastBytes({ text = '', attrs, marks = [] }: BodyNode): number {
  const own = '{"type":"text"}'.length + Buffer.byteLength(text) + attributeBytes(attrs)
  return marks.reduce((sum, mark) => sum + '{"type":"bold"}'.length + attributeBytes(mark.attrs), own)
}

function attributeBytes(attrs: BodyNode['attrs']): number {
  let bytes = 0
  for (const name in attrs) {
    const value = attrs[name]
    if (typeof value === 'string') bytes += Buffer.byteLength(value)
  }
  return bytes
}

function normaliseNode(visit: Visit): BodyNode | null {
  const { input, pointer, state } = visit
  if (!isRecord(input) || typeof input.type !== 'string') throw refuseNode(pointer, 'a node is an object with a type')
  if (input.type === 'text') return normaliseText(input, visit)
  const type = typeInParent(input.type, visit.parentType)
  if (type === 'doc' || !Object.hasOwn(bodySchema.nodes, type)) {
    throw refuseNode(pointer, `there is no node type ${JSON.stringify(type)}`)
  }
  countNode(state, pointer)
  return inlineTypes.has(type) ? normaliseInline(type, input, visit) : normaliseBlock(type, input, visit)
}

function normaliseBlock(type: string, input: Record<string, unknown>, { pointer, depth, state }: Visit): BodyNode {
  if (depth > maximumDepth) throw refuseNode(pointer, `blocks nest deeper than ${maximumDepth} levels`)
  const given = attributesOf(input, pointer)
  const id = adoptBlockId(given.id, pointer, state)
  const here = state.ids.has(id) ? { ...pointer, blockId: id, newBlockId: undefined } : { ...pointer, newBlockId: id }
  const attrs = normaliseAttributes({ type, given, id, pointer: here, state })
  if (attrs === null) return refusedImage(id, given.alt)
  const children = childrenOf(input, here)
  const content = normaliseChildren({ type, children, pointer: here, depth, state })
  return content.length > 0 ? { attrs, content, type } : { attrs, type }
}

function normaliseInline(type: string, input: Record<string, unknown>, { pointer, state }: Visit): BodyNode | null {
  const given = attributesOf(input, pointer)
  if (childrenOf(input, pointer).length > 0) throw refuseNode(pointer, `a ${type} holds no content`)
  const marks = normaliseMarks(input.marks, pointer, state)
  const attrs = normaliseAttributes({ type, given, id: null, pointer, state })
  if (attrs === null) {
    return typeof given.alt === 'string' && given.alt !== '' ? textNode(given.alt, marks) : null
  }
  return {
    ...(Object.keys(attrs).length > 0 ? { attrs } : {}),
    ...(marks === undefined ? {} : { marks }),
    type,
  }
}

function normaliseText(input: Record<string, unknown>, { parentType, pointer, state }: Visit): BodyNode | null {
  if (typeof input.text !== 'string') throw refuseNode(pointer, 'a text node has a string as its text')
  if (input.text === '') return null
  checkText(input.text, pointer)
  countCharacters(state, input.text)
  const marks = normaliseMarks(input.marks, pointer, state)
  if (marks !== undefined && parentType === 'codeBlock') throw refuseNode(pointer, 'text in a codeBlock has no marks')
  return textNode(input.text, marks)
}

function textNode(text: string, marks: BodyNode['marks']): BodyNode {
  return marks === undefined ? { text, type: 'text' } : { marks, text, type: 'text' }
}

// An image from Markdown that may not be shown is replaced by a paragraph with its alternative text.
function refusedImage(id: string, alt: unknown): BodyNode {
  const content = typeof alt === 'string' && alt !== '' ? [textNode(alt, undefined)] : undefined
  return content === undefined ? { attrs: { id }, type: 'paragraph' } : { attrs: { id }, content, type: 'paragraph' }
}

function mergeText(before: BodyNode | undefined, node: BodyNode): boolean {
  if (before?.type !== 'text' || !sameMarks(before.marks, node.marks)) return false
  before.text = `${before.text}${node.text}`
  return true
}

function typeInParent(type: string, parentType: string | null): string {
  if (type !== 'image' && type !== 'inlineImage') return type
  return parentType !== null && isTextblock(parentType) ? 'inlineImage' : 'image'
}

function attributesOf(input: Record<string, unknown>, pointer: Pointer): Record<string, unknown> {
  if (input.attrs === undefined || input.attrs === null) return {}
  if (!isRecord(input.attrs)) throw refuseNode(pointer, 'attrs is an object')
  return input.attrs
}

function childrenOf(input: Record<string, unknown>, pointer: Pointer): unknown[] {
  if (input.content === undefined || input.content === null) return []
  if (!Array.isArray(input.content)) throw refuseNode(pointer, 'content is an array of nodes')
  return input.content
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
