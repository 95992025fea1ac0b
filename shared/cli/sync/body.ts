import type { components } from '../../client/client.ts'

/** A body as Markdown with anchors, and its version. */
export type Body = { markdown: string; version: string }

/** A body as the service has read it. `losses` says what of the sent text the body cannot keep. */
export type ReadBody = Body & { losses: string[] }

/** The body of an answer. */
export function bodyOf(data: { content?: string; version: string }): Body {
  return { markdown: data.content ?? '', version: data.version }
}

/** The body of an answer to a text that was sent, with what the body cannot keep of the text. */
export function readBodyOf(data: { content?: string; version: string; warnings?: readonly Warning[] }): ReadBody {
  return { ...bodyOf(data), losses: (data.warnings ?? []).filter(isLoss).map(({ message }) => message) }
}

type Warning = components['schemas']['Warning']

// True if a warning tells of content that is gone. A block that the body still has is not gone: only its Markdown is.
function isLoss({ code, block_id }: Warning): boolean {
  return lossCodes.has(code) || (code === 'block_dropped' && block_id === null)
}

const lossCodes = new Set(['image_dropped', 'link_removed', 'warnings_truncated'])
