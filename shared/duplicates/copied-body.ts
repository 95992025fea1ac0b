import { attachmentIdOf, attachmentSrc } from '../body/addresses.ts'
import { characterCount, nodeCount } from '../body/body-limits.ts'
import { documentToLines, linesToDocument } from '../body/canonical.ts'
import type { Attrs, BlockNode, BodyNode, DocNode, Mark } from '../body/document.ts'
import { isBlockType } from '../body/nodes.ts'
import type { FirstBody } from '../body/store-documents.ts'
import { textComputation } from '../body/stored-body.ts'
import { blockUri, parseDocumentUri } from '../relations/schema.ts'
import { newId } from '../schema/ids.ts'

/** The stored text of a document, with the ids that mean something else in its duplicate. */
type Original = {
  text: string
  documentId: string
  collapsedBlockIds: readonly string[]
  /** The ids of attachments, each with the id of its copy. */
  attachmentIds: readonly (readonly [string, string])[]
}

/** The body of a duplicate under a new document id. */
type CopiedBody = { documentId: string; content: FirstBody['content']; collapsedBlockIds: string[] }

/**
 * Copies a body: all blocks get new ids, and addresses of own blocks and of copied attachments name the copies. Ids of
 * collapsed blocks that the body does not have are left out. A thread calls this function by its name. @public
 */
export function copyBody({ text, documentId, collapsedBlockIds, attachmentIds }: Original): CopiedBody {
  const original = linesToDocument(text.split('\n'))
  const names: Names = {
    documentId,
    copyId: newId('doc'),
    blockIds: new Map(original.content.flatMap(blockIdsIn).map((id) => [id, newId('block')])),
    attachmentIds: new Map(attachmentIds),
  }
  const result: DocNode = { type: 'doc', content: original.content.map((block) => copyNode(block, names) as BlockNode) }
  return {
    documentId: names.copyId,
    content: {
      text: documentToLines(result).join('\n'),
      nodes: nodeCount(result),
      characters: characterCount(result),
    },
    collapsedBlockIds: collapsedBlockIds.flatMap((id) => names.blockIds.get(id) ?? []),
  }
}

export const copyingBody = textComputation({ module: import.meta.url, run: copyBody })

/** What the ids of an original become in its duplicate. */
type Names = {
  documentId: string
  copyId: string
  blockIds: ReadonlyMap<string, string>
  attachmentIds: ReadonlyMap<string, string>
}

function blockIdsIn(block: BlockNode): string[] {
  const nested = (block.content ?? []).filter((child): child is BlockNode => isBlockType(child.type))
  return [block.attrs.id, ...nested.flatMap(blockIdsIn)]
}

// The order of members and attributes stays, so the copy is in normal form as the original is.
function copyNode(node: BodyNode, names: Names): BodyNode {
  return {
    ...node,
    ...(node.attrs !== undefined && { attrs: copyAttributes(node, node.attrs, names) }),
    ...(node.content !== undefined && { content: node.content.map((child) => copyNode(child, names)) }),
    ...(node.marks !== undefined && { marks: node.marks.map((mark) => copyMark(mark, names)) }),
  }
}

function copyAttributes(node: BodyNode, attrs: Attrs, names: Names): Attrs {
  const id = isBlockType(node.type) ? names.blockIds.get(String(attrs.id)) : undefined
  const copyId = names.attachmentIds.get(String(attrs.attachmentId))
  return {
    ...attrs,
    ...(id !== undefined && { id }),
    ...(copyId !== undefined && { attachmentId: copyId, src: attachmentSrc(copyId) }),
  }
}

function copyMark(mark: Mark, names: Names): Mark {
  const href = mark.attrs?.href
  return mark.type === 'link' && typeof href === 'string'
    ? { ...mark, attrs: { ...mark.attrs, href: copyAddress(href, names) } }
    : mark
}

function copyAddress(href: string, names: Names): string {
  const attachmentId = attachmentIdOf(href)
  if (attachmentId !== null) return attachmentSrc(names.attachmentIds.get(attachmentId) ?? attachmentId)
  const target = parseDocumentUri(href)
  if (target === null || target.documentId !== names.documentId || target.blockId === null) return href
  const blockId = names.blockIds.get(target.blockId)
  return blockId === undefined ? href : blockUri({ documentId: names.copyId, blockId })
}
