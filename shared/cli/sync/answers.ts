import { type components, KnowledgeBaseError } from '../../client/client.ts'
import type { Folder } from './paths.ts'
import type { RemoteDocument } from './sides.ts'

/*
 * Files get their names from ids and titles. So an answer with members that no honest service gives is refused here,
 * where it comes in.
 */

/** What an id of a document looks like. */
export const documentId = /^doc_[A-Za-z0-9_-]{1,64}$/

/** A body as Markdown with anchors, and its version. */
export type Body = { markdown: string; version: string }

/** A body as the service has read it. `losses` says what of the sent text the body cannot keep. */
export type ReadBody = Body & { losses: string[] }

/** The document of an answer; `asked` is its id, if one document was asked for. */
export function remoteOf(answer: components['schemas']['Document'], asked: string = answer.id): RemoteDocument {
  const { id, title, tags, properties, folder_id, version } = answer
  const hasProperties = typeof properties === 'object' && properties !== null
  const areLabels = isText(title) && Array.isArray(tags) && tags.every(isText) && hasProperties
  const isHonest = isText(id) && documentId.test(id) && id === asked && areLabels
  if (!isHonest || !(folder_id === null || isFolderId(folder_id)) || !isVersion(version)) throw unexpected('document')
  return { id, title, tags, properties, folder_id, version }
}

/** The folder of an answer. */
export function folderOf({ id, name, parent_id }: Folder): Folder {
  if (!isFolderId(id) || !isText(name) || !(parent_id === null || isFolderId(parent_id))) throw unexpected('folder')
  return { id, name, parent_id }
}

/** The body of an answer. */
export function bodyOf({ content = '', version }: { content?: string; version: string }): Body {
  if (!isText(content) || !isVersion(version)) throw unexpected('body')
  return { markdown: content, version }
}

/** The body of an answer to a text that was sent, with what the body cannot keep of the text. */
export function readBodyOf(data: { content?: string; version: string; warnings?: readonly Warning[] }): ReadBody {
  return { ...bodyOf(data), losses: lossesOf(data.warnings) }
}

/** What a document cannot keep of the text that it was given. */
export function lossesOf(warnings: readonly Warning[] = []): string[] {
  return warnings.filter(isLoss).map(({ message }) => message)
}

type Warning = components['schemas']['Warning']

// True if a warning tells of content that is gone. A block that the body still has is not gone: only its Markdown is.
function isLoss({ code, block_id }: Warning): boolean {
  return lossCodes.has(code) || (code === 'block_dropped' && block_id === null)
}

const lossCodes = new Set(['image_dropped', 'link_removed', 'warnings_truncated'])

const isText = (value: unknown) => typeof value === 'string'
const isFolderId = (value: unknown) => Number.isSafeInteger(value)
const isVersion = (value: unknown) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

function unexpected(what: string): KnowledgeBaseError {
  return new KnowledgeBaseError(`The service answered with an invalid ${what}.`, { code: 'unexpected_answer' })
}
