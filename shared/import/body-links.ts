import type { BodyNode, DocNode, Mark } from '../body/document.ts'
import type { NewIds } from './plan.ts'

/** The documents and attachments that a body names. */
export function referencesOf(document: DocNode): { documents: Set<string>; attachments: Set<string> } {
  const documents = new Set<string>()
  const attachments = new Set<string>()
  visit(document, (node) => {
    const attachment = node.attrs?.['attachmentId']
    if (typeof attachment === 'string') attachments.add(attachment)
    for (const mark of node.marks ?? []) {
      const target = linkedDocument(mark)
      if (target !== undefined) documents.add(target.id)
    }
  })
  return { documents, attachments }
}

/** The body with the ids that documents and attachments have now; an image without its file is left as a mark of it. */
export function renamed(document: DocNode, ids: NewIds): DocNode {
  const copy = structuredClone(document)
  visit(copy, (node) => {
    for (const mark of node.marks ?? []) renameLink(mark, ids)
    renameImage(node, ids)
  })
  return copy
}

function visit(node: DocNode | BodyNode, act: (node: BodyNode) => void): void {
  for (const child of node.content ?? []) {
    act(child)
    visit(child, act)
  }
}

function renameLink(mark: Mark, ids: NewIds): void {
  const target = linkedDocument(mark)
  const id = target && ids.document(target.id)
  if (target !== undefined && id !== undefined) mark.attrs = { ...mark.attrs, href: `svc://doc/${id}${target.rest}` }
}

// The service makes the address of an image from its attachment.
function renameImage(node: BodyNode, ids: NewIds): void {
  const key = node.attrs?.['attachmentId']
  if (typeof key !== 'string') return
  node.attrs = { ...node.attrs, attachmentId: ids.attachment(key) ?? null, src: null }
}

function linkedDocument(mark: Mark): { id: string; rest: string } | undefined {
  const href = mark.type === 'link' ? mark.attrs?.['href'] : undefined
  const match = typeof href === 'string' ? /^svc:\/\/doc\/([A-Za-z0-9_-]+)(#.*)?$/s.exec(href) : null
  return match?.[1] === undefined ? undefined : { id: match[1], rest: match[2] ?? '' }
}
