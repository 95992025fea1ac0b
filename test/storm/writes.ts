import { blockHash } from '../../shared/body/canonical.ts'
import type { BlockNode, BodyNode } from '../../shared/body/document.ts'
import { isBlockType, isTextblock } from '../../shared/body/nodes.ts'
import { newId } from '../../shared/schema/ids.ts'
import { h, p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import type { Choices } from './choices.ts'

/** What a program has read before it writes, and how it chooses. `word` makes a text that occurs nowhere else. */
export type Reading = {
  client: Client
  id: string
  version: string
  blocks: BlockNode[]
  untouched: ReadonlySet<string>
  choices: Choices
  word: () => string
}

/** A request that writes. `intended` are the ids of the existing blocks that it changes or deletes; null means all. */
export type WriteRequest = {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  body?: object
  guard: string | null
  intended: ReadonlySet<string> | null
}

/** A way to write. It makes null when the document offers nothing to do that with. */
type Write = (reading: Reading) => Promise<WriteRequest | null> | WriteRequest | null

/** Appends a word to a text block of any level, or replaces its text. Half of these writes carry no guard. */
const patch: Write = (reading) => {
  const { choices } = reading
  const block = choices.pick(editable(reading).filter(({ type }) => isTextblock(type)))
  if (!block) return null
  const kept = choices.chance(0.7) ? (block.content ?? []) : []
  const content = [...kept, textOf(reading)]
  const guard = choices.chance(0.5) ? blockHash(block) : null
  return { method: 'PATCH', path: `/blocks/${block.attrs.id}`, body: { content }, guard, intended: idsOf(block) }
}

/** Inserts one or two blocks, with or without ids of their own. */
const insert: Write = (reading) => {
  const nodes = [fresh(reading), fresh(reading)].slice(reading.choices.between(0, 1))
  return {
    method: 'POST',
    path: '/blocks',
    body: { position: place(reading), nodes },
    guard: null,
    intended: new Set(),
  }
}

/** Deletes a block of any level. */
const remove: Write = (reading) => {
  const block = reading.choices.pick(editable(reading))
  if (!block) return null
  const guard = reading.choices.chance(0.7) ? blockHash(block) : null
  return { method: 'DELETE', path: `/blocks/${block.attrs.id}`, guard, intended: idsOf(block) }
}

/** Moves a top-level block: a batch that deletes it and inserts it elsewhere with its id. */
const move: Write = (reading) => {
  const block = reading.choices.pick(topLevel(reading))
  if (!block) return null
  const others = { ...reading, blocks: reading.blocks.filter((one) => one !== block) }
  if (others.blocks.length === 0) return null
  return batch(
    [
      { op: 'delete', block_id: block.attrs.id, if_match: blockHash(block) },
      { op: 'insert', position: place(others), nodes: [block] },
    ],
    { intended: idsOf(block), guard: null },
  )
}

/** Makes a paragraph a heading or the other way round. */
const retype: Write = (reading) => {
  const plain = topLevel(reading).filter(({ type }) => type === 'paragraph' || type === 'heading')
  const block = reading.choices.pick(plain)
  if (!block) return null
  const type = block.type === 'paragraph' ? 'heading' : 'paragraph'
  const node = { type, attrs: { id: block.attrs.id }, content: block.content ?? [] }
  const operation = { op: 'replace', block_id: block.attrs.id, if_match: blockHash(block), node }
  return batch([operation], { intended: idsOf(block), guard: null })
}

/** Several operations that hold for one version of the document. */
const several: Write = (reading) => {
  const changed = [reading.choices.pick(topLevel(reading)), reading.choices.pick(topLevel(reading))]
  const targets = [...new Set(changed)].filter((block) => block !== undefined && isTextblock(block.type)) as BlockNode[]
  const replacements = targets.map((block) => ({
    op: 'replace',
    block_id: block.attrs.id,
    node: { ...block, content: [...(block.content ?? []), textOf(reading)] },
  }))
  const insertion = { op: 'insert', position: place(reading), nodes: [fresh(reading)] }
  const intended = new Set(targets.flatMap((block) => [...idsOf(block)]))
  return batch([...replacements, insertion], { intended, guard: reading.version })
}

/** Replaces the whole body: some blocks are changed, one is deleted, one is new, and two change places. */
const putJson: Write = (reading) => {
  const { choices } = reading
  const intended = new Set<string>()
  const touch = (block: BlockNode | undefined) => {
    if (block) for (const id of idsOf(block)) intended.add(id)
    return block
  }
  const edited = touch(choices.pick(topLevel(reading).filter(({ type }) => isTextblock(type))))
  const deleted = reading.blocks.length > 8 ? touch(choices.pick(topLevel(reading))) : undefined
  const content: BodyNode[] = reading.blocks
    .filter((block) => block !== deleted)
    .map((block) => (block === edited ? { ...block, content: [...(block.content ?? []), textOf(reading)] } : block))
  const moved = choices.pick(topLevel(reading).filter((block) => block !== deleted && block !== edited))
  if (moved) content.splice(choices.between(0, content.length - 1), 0, ...content.splice(content.indexOf(moved), 1))
  content.splice(choices.between(0, content.length), 0, fresh(reading))
  const body = { format: 'tiptap-json', document: { type: 'doc', content } }
  return { method: 'PUT', path: '/content', body, guard: reading.version, intended }
}

/** Writes the body back as Markdown with anchors: some blocks get a word more, and a paragraph comes to the end. */
const putMarkdown: Write = async (reading) => {
  const { status, body } = await reading.client.get(`/documents/${reading.id}/content?format=markdown&annotate=anchors`)
  if (status !== 200) return null
  const parts = String(body.data.content).split(/(?=<!-- block=)/)
  const simple = topLevel(reading).filter(({ type, content }) => type === 'paragraph' && isOneText(content))
  const chosen = reading.choices.pick(simple)?.attrs.id
  const written = parts.map((part) =>
    chosen && part.includes(chosen) ? `${part.trimEnd()} ${reading.word()}\n\n` : part,
  )
  const content = `${written.join('').trimEnd()}\n\nAdded ${reading.word()}\n`
  // The anchor of an empty block at the end is followed by the added paragraph, which becomes the text of that block.
  const [, empty] = /^<!-- block=(\S+)[^>]*-->\s*$/.exec(parts.at(-1) ?? '') ?? []
  const intended = new Set([chosen, empty].filter((id) => id !== undefined))
  return { method: 'PUT', path: '/content', body: { format: 'markdown', content }, guard: body.data.version, intended }
}

/** Brings one of the last kept versions back. */
const rollback: Write = async (reading) => {
  const { body } = await reading.client.get(`/documents/${reading.id}/versions?limit=6`)
  const version = reading.choices.pick<{ seq: number }>(body.data ?? [])
  if (version === undefined) return null
  const guard = reading.choices.chance(0.5) ? reading.version : '*'
  return { method: 'POST', path: `/versions/${version.seq}/rollback`, guard, intended: null }
}

/** All ways to write, by their names. */
export const writes = { patch, insert, remove, move, retype, several, putJson, putMarkdown, rollback } satisfies Record<
  string,
  Write
>

/** A block with all blocks in it. */
export function withNested(block: BodyNode): BlockNode[] {
  const nested = (block.content ?? []).filter(({ type }) => isBlockType(type)).flatMap(withNested)
  return [block as BlockNode, ...nested]
}

function batch(operations: object[], { intended, guard }: Pick<WriteRequest, 'intended' | 'guard'>): WriteRequest {
  const body = { operations, ...(guard !== null && { base_version: guard }) }
  return { method: 'POST', path: '/batch', body, guard, intended }
}

function topLevel({ blocks, untouched }: Reading): BlockNode[] {
  return blocks.filter(({ attrs }) => !untouched.has(attrs.id))
}

function editable(reading: Reading): BlockNode[] {
  return topLevel(reading).flatMap(withNested)
}

function idsOf(block: BlockNode): Set<string> {
  return new Set([block.attrs.id])
}

function place({ blocks, choices }: Reading): object {
  const block = choices.pick(blocks)
  if (block === undefined || choices.chance(0.2)) return { document_end: true }
  return choices.chance(0.5) ? { after_block_id: block.attrs.id } : { before_block_id: block.attrs.id }
}

function fresh(reading: Reading): BodyNode {
  const { choices, word, id } = reading
  const link = { type: 'link', attrs: { href: `svc://doc/${id}` } }
  const texts: BodyNode[] = [{ type: 'text', text: `Added ${word()}` }]
  if (choices.chance(0.3)) texts.push({ type: 'text', text: ' see here', marks: [link] })
  const made = choices.chance(0.2) ? h(2, ...texts) : p(...texts)
  return choices.chance(0.3) ? { ...made, attrs: { ...made.attrs, id: newId('block') } } : made
}

function textOf({ word }: Reading): BodyNode {
  return { type: 'text', text: ` ${word()}` }
}

function isOneText(content: readonly BodyNode[] | undefined): boolean {
  return content?.length === 1 && content[0]?.type === 'text' && content[0].marks === undefined
}
