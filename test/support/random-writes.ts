import fc from 'fast-check'
import type { BlockNode, BodyNode } from '../../shared/body/document.ts'
import { plainText } from '../../shared/body/text.ts'
import { blockId, p, text } from '../document/build.ts'
import type { Made } from './documents.ts'

/** A random write to the body of a document: mostly a good write, sometimes with a fault. */
export type RandomWrite = {
  kind: 'put' | 'markdown' | 'insert' | 'patch' | 'delete' | 'batch' | 'edit' | 'rollback'
  who: 'owner' | 'viewer' | 'reader' | 'stranger'
  guard: 'current' | 'any' | 'stale' | 'none' | 'malformed' | 'block'
  fault: 'none' | 'unknown' | 'shape' | 'type' | 'attachment' | 'twin'
  /** Chooses blocks and positions. */
  pick: number
  /** Whether a new block brings its id. */
  hasId: boolean
  words: string
}

const words = fc.array(fc.constantFrom('water', 'milk', '水', 'a', '**b**', '\n\n- c', '\n\n', '\n\n# d'), {
  maxLength: 6,
})

export const anyWrite: fc.Arbitrary<RandomWrite> = fc.record({
  kind: fc.constantFrom('put', 'markdown', 'insert', 'patch', 'delete', 'batch', 'edit', 'rollback'),
  who: mostly('owner', 'viewer', 'reader', 'stranger'),
  guard: fc.oneof(
    fc.constant<'current'>('current'),
    fc.constant<'any'>('any'),
    mostly('current', 'stale', 'none', 'malformed', 'block'),
  ),
  fault: mostly('none', 'unknown', 'shape', 'type', 'attachment', 'twin'),
  pick: fc.nat(1000),
  hasId: fc.boolean(),
  words: words.map((chosen) => chosen.join(' ')),
})

/** The request of a write to a document in its present state. */
export function requestOf(write: RandomWrite, made: Made) {
  const { guard, fault, pick } = write
  const block = made.blocks[pick % made.blocks.length] as BlockNode
  const target = { made, write, block, named: fault === 'unknown' ? blockId('ZZZZ') : block.attrs.id }
  const { method, path, body } = requests[write.kind](target)
  const tags = {
    current: made.etag,
    any: '*',
    stale: `"sha256:${'0'.repeat(64)}"`,
    malformed: 'x y',
    block: `"${target.named}"`,
  }
  const headers: Record<string, string> = guard === 'none' ? {} : { 'if-match': tags[guard] }
  return { method, path: `/documents/${made.id}${path}`, headers, ...(body !== undefined && { body }) }
}

/** The document and the block that a write is about. `named` is the id by which the request names the block. */
type Target = { made: Made; write: RandomWrite; block: BlockNode; named: string }

const requests: Record<RandomWrite['kind'], (target: Target) => { method: string; path: string; body?: object }> = {
  put: (target) => {
    const { made, write } = target
    const kept = made.blocks.filter((_, index) => (index + write.pick) % 4 !== 0)
    const content = write.pick % 3 === 0 ? [...kept.toReversed(), newBlock(target)] : [newBlock(target), ...kept]
    return { method: 'PUT', path: '/content', body: { format: 'tiptap-json', document: { type: 'doc', content } } }
  },
  markdown: ({ write, named }) => {
    const anchor = write.fault === 'type' ? 'no id' : named
    const anchored = write.pick % 2 === 0 ? `<!-- block=${anchor} -->\n\n${write.words}` : write.words
    const content = write.fault === 'twin' ? `${anchored}\n\n${anchored}` : anchored
    return { method: 'PUT', path: '/content', body: { format: write.fault === 'shape' ? 'html' : 'markdown', content } }
  },
  insert: (target) => {
    const { write, named } = target
    const place = write.pick % 4 === 0 ? { after_heading: 'Water' } : { after_block_id: named }
    const position = write.fault === 'shape' ? { ...place, document_end: true } : place
    return { method: 'POST', path: '/blocks', body: { position, nodes: [newBlock(target)] } }
  },
  patch: (target) => {
    const { write, named } = target
    const change = { content: [text(`patched ${write.pick}`)] }
    const body = write.fault === 'none' || write.fault === 'unknown' ? change : { node: newBlock(target) }
    return { method: 'PATCH', path: `/blocks/${named}`, body: write.fault === 'shape' ? { ...change, ...body } : body }
  },
  delete: ({ named }) => ({ method: 'DELETE', path: `/blocks/${named}` }),
  batch: (target) => {
    const { made, write, named } = target
    const operations = [
      { op: 'insert', position: { document_end: true }, nodes: [newBlock(target)] },
      { op: 'replace', block_id: named, node: p(`batch ${write.pick}`) },
      ...(made.blocks.length > 5 ? [{ op: 'delete', block_id: named }] : []),
    ]
    const base = write.pick % 3 === 0 ? { base_version: made.etag } : {}
    return { method: 'POST', path: '/batch', body: { ...base, operations: write.fault === 'shape' ? [] : operations } }
  },
  edit: ({ made, write, named }) => {
    const found = made.blocks.map(plainText).find((value) => /\w{3}/.test(value)) ?? ''
    const find = write.pick % 7 === 0 ? 'nowhere' : (/\w{3,}/.exec(found)?.[0] ?? 'water')
    const occurrence = (['only', 'first', 'all'] as const)[write.pick % 3]
    const edits = [
      { op: 'replace', find, replace: `edited ${write.pick}`, occurrence },
      { op: 'append', markdown: write.words || 'x', ...(write.pick % 5 === 0 && { section: named }) },
    ]
    return { method: 'POST', path: '/content/edit', body: { edits: write.fault === 'shape' ? [] : edits } }
  },
  rollback: ({ write }) => {
    const seq = { shape: '0', unknown: '9999' }[write.fault as string] ?? String(1 + (write.pick % 200))
    return { method: 'POST', path: `/versions/${seq}/rollback` }
  },
}

function newBlock({ write, block }: Target): BodyNode {
  const { fault, pick, hasId } = write
  const words = text(`${write.words} ${pick}`)
  if (fault === 'type') return { type: 'paragraf', content: [words] }
  if (fault === 'twin') return { ...p(words), attrs: { id: block.attrs.id } }
  if (fault === 'attachment') return { type: 'image', attrs: { attachmentId: 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV' } }
  return hasId ? { ...p(words), attrs: { id: blockId(String(pick)) } } : p(words)
}

function mostly<const T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 10, arbitrary: fc.constant(usual) },
    ...others.map((arbitrary) => ({ weight: 1, arbitrary: fc.constant(arbitrary) })),
  )
}
