import type { ErrorCode } from '../../../shared/errors/errors.ts'

/** The codes for faults of nodes that a request puts into a body. */
export const nodeErrors = [
  'invalid_node',
  'invalid_block_id',
  'duplicate_block_id',
  'attachment_not_found',
  'document_too_large',
] as const satisfies readonly ErrorCode[]

/** The codes for faults of a whole body, which a request sends as Markdown or as tiptap-json. */
export const contentErrors = [
  ...nodeErrors,
  'duplicate_block_anchor',
  'invalid_markdown_anchor',
] as const satisfies readonly ErrorCode[]
