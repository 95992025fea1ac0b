import Type from 'typebox'
import { BlockLines } from '../../../shared/body/block-lines.ts'
import {
  BatchInput,
  BatchResult,
  Block,
  BlockDeleted,
  BlockInsertInput,
  BlockPatchInput,
  BlocksInserted,
} from '../../../shared/body/block-schema.ts'
import { describeBlock } from '../../../shared/body/blocks.ts'
import { commitBody } from '../../../shared/body/commit.ts'
import { BodyWritten } from '../../../shared/body/schema.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { blockIdPattern } from '../../../shared/schema/ids.ts'
import { decodeCursor, encodeCursor } from '../../http/pagination.ts'
import { DocumentParameter, wholeListLimit, wholeListParameters } from '../../http/parameters.ts'
import { mergeGuards } from '../../http/preconditions.ts'
import { apiPrefix, route } from '../../http/route.ts'
import { type BlockWrite, editBlocks, findBlock, presentBlock } from './block-write.ts'
import { nodeErrors } from './body-errors.ts'
import { blockGuard, bodyGuard } from './body-guard.ts'
import { blocksText } from './body-views.ts'
import { bodyRehearsal } from './differences.ts'
import { bodyWritten, requireBody } from './stored-body.ts'

const tag = 'Blocks'

// The largest number of bytes of the blocks on one page. A document has up to 32 levels, so the nodes of all its blocks
// together can be 32 times as large as the document.
const pageBytes = 8 * 1024 * 1024

const BlockParameter = Type.Object({
  ...DocumentParameter.properties,
  blockId: Type.String({ pattern: blockIdPattern, description: 'block id', 'x-error': 'block_not_found' }),
})

const writeErrors = [...nodeErrors, 'document_not_found', 'version_conflict', 'invalid_position'] as const

/** The routes of blocks: single blocks, and batches of operations. See `api/guide/blocks.md#blocks`. */
export const blockRoutes = [
  route({
    method: 'GET',
    path: '/documents/{id}/blocks',
    operationId: 'listBlocks',
    tag,
    summary: 'List the blocks of a document',
    description: `A page holds up to 1000 blocks when \`limit\` is absent. It ends before the block that would make it larger than ${pageBytes / 1024 / 1024} MiB of JSON, since with \`recursive\` each block repeats those in it; one larger block is a page by itself.`,
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({
      ...wholeListParameters,
      recursive: Type.Optional(Type.Boolean({ default: false, description: 'all levels, depth first' })),
    }),
    conditional: true,
    success: { status: 200, description: 'Blocks in document order', data: Block, list: true, etag: true },
    errors: ['document_not_found', 'invalid_cursor', 'invalid_node'],
    async handle(call) {
      const { stored } = await requireBody(call)
      const { limit = wholeListLimit, cursor, recursive = false } = call.query
      const scope = { endpoint: call.endpoint, filters: { id: stored.id, recursive }, sort: 'position' }
      const start = cursor === undefined ? 0 : Number(decodeCursor(scope, cursor, ['number'])[0])
      if (start < 0) throw new Refusal('invalid_cursor')
      const page = { recursive, start, limit, maxBytes: pageBytes }
      const document = { id: stored.id, version: stored.version }
      const { dataText, count, hasMore } = await blocksText({ text: stored.body, document, ...page })
      const next_cursor = hasMore ? encodeCursor(scope, [start + count]) : null
      return { dataText, page: { cursor: cursor ?? null, next_cursor, has_more: hasMore }, etag: stored.version }
    },
  }),

  route({
    method: 'GET',
    path: '/documents/{id}/blocks/{blockId}',
    operationId: 'getBlock',
    tag,
    summary: 'Read one block, top-level or nested',
    scopes: ['documents:read'],
    params: BlockParameter,
    conditional: true,
    success: { status: 200, description: 'The block', data: Block, etag: true },
    errors: ['document_not_found', 'block_not_found'],
    async handle(call) {
      const { stored, body } = await requireBody(call)
      const block = describeBlock(new BlockLines(body.lines), call.params.blockId)
      if (block === null) throw new Refusal('block_not_found', { details: { id: call.params.blockId } })
      return { data: presentBlock(block, stored), etag: stored.version }
    },
  }),

  route({
    method: 'POST',
    path: '/documents/{id}/blocks',
    operationId: 'insertBlocks',
    tag,
    summary: 'Insert blocks',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: BlockInsertInput,
    guard: 'optional',
    rehearsal: bodyRehearsal,
    success: {
      status: 201,
      description: 'The new blocks',
      data: BlocksInserted,
      minimal: BodyWritten,
      etag: true,
      location: true,
    },
    errors: [...writeErrors, 'block_not_found', 'heading_not_found'],
    async handle(call) {
      const { caller, body, ahead } = call
      const documentId = call.params.id
      const committed = await commitBody(call.write, {
        documentId,
        caller,
        guard: bodyGuard(call),
        edit: (current) => editBlocks(ahead, { current, documentId, op: 'insert', input: body }),
      })
      const { document, edited } = committed
      const ids = edited.results[0]?.block_ids ?? []
      const members = JSON.stringify({ document_id: document.id, version: document.version, block_ids: ids })
      return {
        dataText: `${members.slice(0, -1)},"blocks":[${edited.blocks.join(',')}]}`,
        minimal: bodyWritten(committed),
        etag: document.version,
        location: `${apiPrefix}/documents/${document.id}/blocks/${ids[0]}`,
        workspaceId: document.workspace_id,
      }
    },
  }),

  route({
    method: 'PATCH',
    path: '/documents/{id}/blocks/{blockId}',
    operationId: 'updateBlock',
    tag,
    summary: 'Change one block',
    description:
      'If-Match takes the version of the document, or the hash of the block: then edits elsewhere in the document do not disturb.',
    scopes: ['documents:write'],
    params: BlockParameter,
    body: BlockPatchInput,
    guard: 'optional',
    rehearsal: bodyRehearsal,
    success: { status: 200, description: 'The block', data: Block, minimal: BodyWritten, etag: true },
    errors: [...writeErrors, 'block_not_found', 'block_id_mismatch'],
    async handle(call) {
      const { caller, body, ahead } = call
      const { id: documentId, blockId } = call.params
      const committed = await commitBody<BlockWrite, string>(call.write, {
        documentId,
        caller,
        find: (current) => findBlock(ahead, { current, blockId }),
        guard: blockGuard(call),
        edit: (current) => editBlocks(ahead, { current, documentId, op: 'change', blockId, input: body }),
      })
      const { document, edited } = committed
      return { dataText: edited.blocks[0] ?? '', minimal: bodyWritten(committed), etag: document.version }
    },
  }),

  route({
    method: 'DELETE',
    path: '/documents/{id}/blocks/{blockId}',
    operationId: 'deleteBlock',
    tag,
    summary: 'Delete one block with what is in it',
    description: 'Ancestors that it leaves empty go with it. If-Match as for a change.',
    scopes: ['documents:write'],
    params: BlockParameter,
    guard: 'optional',
    rehearsal: bodyRehearsal,
    success: { status: 200, description: 'Deleted', data: BlockDeleted, minimal: BodyWritten, etag: true },
    errors: ['document_not_found', 'block_not_found', 'version_conflict', 'invalid_position'],
    async handle(call) {
      const { caller, ahead } = call
      const { id: documentId, blockId } = call.params
      const committed = await commitBody<BlockWrite, string>(call.write, {
        documentId,
        caller,
        find: (current) => findBlock(ahead, { current, blockId }),
        guard: blockGuard(call),
        edit: (current) => editBlocks(ahead, { current, documentId, op: 'delete', blockId }),
      })
      const { document } = committed
      const data = { document_id: document.id, version: document.version, deleted_block_id: blockId }
      return { data, minimal: bodyWritten(committed), etag: document.version }
    },
  }),

  route({
    method: 'POST',
    path: '/documents/{id}/batch',
    operationId: 'batchBlocks',
    tag: 'Blocks',
    summary: 'Apply up to 100 block operations, all or nothing',
    description:
      'Operations run in order, each on the result of the ones before it. `if_match` holds a block hash against the body before the batch.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: BatchInput,
    guard: 'optional',
    rehearsal: bodyRehearsal,
    success: {
      status: 200,
      description: 'What the operations did',
      data: BatchResult,
      minimal: BodyWritten,
      etag: true,
    },
    errors: [
      ...nodeErrors,
      'document_not_found',
      'precondition_mismatch',
      'version_conflict',
      'block_id_mismatch',
      'invalid_position',
      'block_not_found',
      'heading_not_found',
    ],
    async handle(call) {
      const { caller, params, body } = call
      const guard = mergeGuards(call.guard, body.base_version)
      const committed = await commitBody(call.write, {
        documentId: params.id,
        caller,
        guard: bodyGuard({ ...call, guard }),
        edit: (current) =>
          editBlocks(call.ahead, { current, documentId: params.id, op: 'batch', input: body.operations }),
      })
      const { document, edited } = committed
      const { results, warnings } = edited
      return {
        data: { document_id: document.id, version: document.version, applied: results.length, results, warnings },
        minimal: bodyWritten(committed, warnings),
        etag: document.version,
        workspaceId: document.workspace_id,
      }
    },
  }),
]
