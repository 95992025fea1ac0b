import { type Static, Type } from 'typebox'
import type { Block } from '../../../shared/body/block-schema.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { BlockHash, Nullable } from '../../../shared/schema/identifiers.ts'
import { SearchProjection, type SearchV2Hit } from '../../../shared/search/schema.ts'
import { searchV2Parameters } from '../../routes/search/parameters.ts'
import { wrongArguments } from '../arguments.ts'
import { maxTokens, mostWithin, shortName } from '../budget.ts'
import type { Door } from '../door.ts'
import { oneLine } from '../results.ts'
import { tool } from '../tool.ts'

const { q, knowledge_base_id, folder_id, document_id, tag } = searchV2Parameters.properties
const { freshness, complete } = SearchProjection.properties

const Hit = Type.Object({
  document_id: Type.String(),
  title: Type.String(),
  path: Type.String(),
  version: Type.String(),
  block_id: Nullable(Type.String()),
  parent_block_id: Type.Optional(Type.String()),
  hash: Nullable(BlockHash),
  section: Type.String(),
  text: Type.String(),
})
type Hit = Static<typeof Hit>

type Answer = {
  results: SearchV2Hit[]
  projection: Static<typeof SearchProjection>
  page: { has_more: boolean }
  suggestion?: string | null
}

/** Finds blocks by their words, with what an edit of each block needs. */
export const search = tool({
  name: 'search',
  title: 'Search',
  description:
    'Find blocks of text that contain all words of q. A hit has what edit needs: document_id, block_id, hash and the words of the block. complete=false: not all is indexed yet; do not conclude that something is missing.',
  input: Type.Object({
    q: Type.With(q, { description: 'words and "quoted phrases", all of which must match' }),
    knowledge_base_id,
    folder_id,
    document_id,
    tag: Type.With(tag, { description: 'documents with all of these tags' }),
    property: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'values by name' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5 })),
    max_tokens: maxTokens(3000),
  }),
  output: Type.Object({
    hits: Type.Array(Hit),
    omitted: Type.Integer(),
    has_more: Type.Boolean({ description: 'more blocks match than limit' }),
    freshness,
    complete,
    suggestion: Type.Optional(Nullable(Type.String())),
  }),
  readOnly: true,
  async run({ limit = 5, max_tokens: budget = 3000, property = {}, ...query }, { door }) {
    // What the agent has written a moment ago has to be found.
    const sent = { ...query, ...propertyFilters(property), limit, wait_ms: 2000 }
    const { data } = await door<Answer>({ operationId: 'searchV2', query: sent })
    const found = await Promise.all(data.results.map((result) => hitOf(door, result)))
    const hits = found.filter((hit) => hit !== null)
    const { freshness, complete } = data.projection
    const { has_more } = data.page
    const further = has_more ? '; more blocks match: raise limit or name more words' : ''
    const suggestion = data.suggestion == null ? {} : { suggestion: data.suggestion }
    return mostWithin(hits, {
      budget,
      make: (shown) => {
        const omitted = hits.length - shown.length
        const left = omitted > 0 ? `, ${omitted} more left out: raise max_tokens` : ''
        const state = complete
          ? 'everything is indexed'
          : 'some documents are not indexed yet: search again in a moment'
        return {
          structured: { hits: [...shown], omitted, has_more, freshness, complete, ...suggestion },
          summary: `${shown.length} hits${left}${further}; ${state}.`,
          untrusted: [
            ...shown.map(lines),
            ...('suggestion' in suggestion ? [`did you mean: ${suggestion.suggestion}`] : []),
          ].join('\n\n'),
        }
      },
    })
  },
})

// A hit with what an edit needs; null for a block that was deleted after the search. Somebody may have changed a block
// since, too. A hash is only told of a text that the hit shows: no guard stands for words that the agent has not seen.
function propertyFilters(property: object): Record<string, string | number | boolean> {
  const values = Object.entries(property)
  if (values.some(([, value]) => typeof value === 'object')) {
    throw wrongArguments([{ name: 'property', message: 'has a string, number or boolean for each name' }])
  }
  return Object.fromEntries(values.map(([name, value]) => [`property[${name}]`, value]))
}

async function hitOf(door: Door, result: SearchV2Hit): Promise<Hit | null> {
  const { before, match, after } = result.context
  const block = await presentBlock(door, result)
  if (block === 'deleted') return null
  const isWhole = block !== null && block.text.length <= wholeText
  const isPresent = isWhole || block?.version === result.source_version
  return {
    document_id: result.document_id,
    title: shortName(result.title),
    path: result.path_text.slice(0, 300),
    version: block?.version ?? result.source_version,
    block_id: result.block_id,
    // An item or a cell, which an edit can insert beside.
    ...(block?.parent_block_id != null && { parent_block_id: block.parent_block_id }),
    hash: block !== null && isPresent ? block.hash : null,
    section: result.heading_path.map(shortName).join(' > '),
    text: isWhole ? block.text : `${before ?? ''}${match}${after ?? ''}`,
  }
}

// The most characters of a block that a hit shows whole; of a longer block it shows what is around the match.
const wholeText = 800

// The block as it is now; null for a hit in the title, and when the caller may not read so much at once.
async function presentBlock(door: Door, result: SearchV2Hit): Promise<Static<typeof Block> | 'deleted' | null> {
  const { document_id: id, block_id: blockId } = result
  if (blockId === null) return null
  try {
    return (await door<Static<typeof Block>>({ operationId: 'getBlock', params: { id, blockId } })).data
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return 'deleted'
    if (error instanceof Refusal && error.status === 429) return null
    throw error
  }
}

function lines({ document_id, title, path, version, block_id, parent_block_id: parent, ...hit }: Hit): string {
  const { hash, section, text } = hit
  const place = [oneLine(path) || oneLine(title), oneLine(section)].filter(Boolean).join(' > ')
  const block =
    block_id === null
      ? 'title'
      : `${block_id} hash=${hash ?? 'unknown, read the block first'}${parent === undefined ? '' : ` in ${parent}`}`
  return `${place}\n${document_id} version=${version}\n${block}\n${text}`
}
