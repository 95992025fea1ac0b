import { errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import { type ErrorCode, Refusal } from '../../../shared/errors/errors.ts'
import { type Predicate, predicates, relationTypes } from '../../../shared/relations/schema.ts'
import { cutText } from '../../../shared/schema/strings.ts'
import { type BlockText, blockTexts, firstBlockTexts } from '../../../shared/search/block-texts.ts'
import { presentV2Result } from '../../../shared/search/present.ts'
import { searchTopK } from '../../../shared/search/search.ts'
import { searchV2Of } from '../../routes/search/parameters.ts'
import type { PanelCall, RefusedForm } from './frame.ts'
import { type RelationTarget, relationTargets, shownText } from './relation-targets.ts'
import { wordsOfPredicate } from './relation-words.ts'

/** The most code points of the note of a relation, as in the API. */
export const longestNote = 500
const longestFind = 200
// How many blocks of the document are offered as the source of a new relation: its first blocks, or those found.
const offeredBlocks = 300
const foundBlocks = 20

/** A block that is offered as the source of a relation. */
type OfferedBlock = { id: string; text: string; isHeading: boolean }

/**
 * The form for a new relation as it was filled in. `targets` is null until the person has looked for a target. `here`
 * are words of the source block, which are asked for where the document has too many blocks to offer all of them.
 */
export type RelationForm = {
  find: string
  here: string
  targets: RelationTarget[] | null
  target: string
  blocks: OfferedBlock[]
  hasMoreBlocks: boolean
  block: string
  predicates: { value: Predicate; words: string }[]
  predicate: string
  note: string
  longestFind: number
  longestNote: number
}

/** Makes the form for a new relation with what the person has sent before. `problem` says why a search was refused. */
export async function relationForm(
  call: PanelCall,
  refused: RefusedForm | null,
): Promise<{ form: RelationForm; problem: string | null }> {
  const field = (name: string) => (refused === null ? call.query.get(name) : refused.submitted.field(name)) ?? ''
  const [find, here] = [field('find'), field('here')].map((words) => cutText(words.trim(), longestFind))
  const form = {
    find: find ?? '',
    here: here ?? '',
    targets: null,
    target: field('target'),
    blocks: [],
    hasMoreBlocks: false,
    block: field('block'),
    predicates: predicates.map((value) => ({ value, words: wordsOfPredicate[value] })),
    predicate: field('predicate') || relationTypes[0].predicate,
    note: field('note'),
    longestFind,
    longestNote,
  }
  if (form.find === '') return { form, problem: null }
  try {
    const [targets, offered] = await Promise.all([
      relationTargets(call.service, { caller: call.caller, asked: form.find }),
      offeredSources(call, form),
    ])
    return { form: { ...form, targets, ...offered }, problem: null }
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    return { form, problem: searchProblems[error.code] ?? errorCatalogue[error.code].message }
  }
}

const searchProblems: { [code in ErrorCode]?: string } = {
  invalid_query: 'Your words only exclude documents. Add a word that must be there, too.',
}

// The block that the person has chosen before comes first, so that it stays chosen.
async function offeredSources(
  call: PanelCall,
  { here, block }: Pick<RelationForm, 'here' | 'block'>,
): Promise<Pick<RelationForm, 'blocks' | 'hasMoreBlocks'>> {
  const { workspace_id: workspaceId, id: documentId } = call.document
  const db = call.service.database
  const first = await firstBlockTexts(db, { workspaceId, id: documentId, limit: offeredBlocks + 1 })
  const hasMoreBlocks = first.length > offeredBlocks
  const offered = here === '' ? first.slice(0, offeredBlocks).map(offer) : await blocksWith(call, here)
  if (block === '' || offered.some(({ id }) => id === block)) return { blocks: offered, hasMoreBlocks }
  const chosen = { workspaceIds: [workspaceId], blocks: [{ documentId, blockId: block }] }
  return { blocks: [...(await blockTexts(db, chosen)).map(offer), ...offered], hasMoreBlocks }
}

async function blocksWith({ service, caller, document }: PanelCall, words: string): Promise<OfferedBlock[]> {
  const search = searchV2Of(caller, { q: words, locale: 'all', document_id: document.id, limit: foundBlocks })
  const { hits } = await searchTopK(service.database, { ...search, relax: true })
  return hits
    .map((hit) => presentV2Result(hit, { highlight: false }))
    .flatMap(({ block_id: blockId, block_type: type, context }) =>
      blockId === null || type === null ? [] : [offer({ blockId, type, text: shownText(context) })],
    )
}

function offer({ blockId, type, text }: Pick<BlockText, 'blockId' | 'type' | 'text'>): OfferedBlock {
  const short = text.replace(/\s+/g, ' ').trim()
  const start = cutText(short, 70)
  return { id: blockId, text: start === short ? start : `${start}…`, isHeading: type === 'heading' }
}
