import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import { textVersion } from '../body/canonical.ts'
import type { TwoTexts } from '../body/change.ts'
import type { IdPolicy } from '../body/content.ts'
import { linesToMarkdown } from '../body/markdown/to-markdown.ts'
import { linesWithIdsOf } from '../body/match-ids.ts'
import { type Computation, ComputationLimitError, computation } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import type { Queryable } from '../database/database.ts'
import { documentNotFound } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import { blockDifferences } from './block-differences.ts'
import { type ComparedBody, comparedBodies, type NamedBody } from './queries.ts'
import { unifiedText } from './unified-text.ts'

/** A comparison of two bodies of a document, as a request names them. */
export type Comparison = { documentId: string; caller: Caller; from: NamedBody; to: NamedBody }

/** The form of a difference: by blocks, or unified text of the two bodies as Markdown. */
export type DifferenceFormat = 'json' | 'markdown'

/**
 * How a difference is told. With the ids `match`, blocks whose ids were replaced are paired with the blocks that
 * continue them.
 */
export type DifferenceOptions = { format: DifferenceFormat; ids?: IdPolicy }

/** The heading of a difference, and the stored texts of both bodies. */
export type BodyPair = { heading: Heading; texts: TwoTexts }

type Heading = { document_id: string; from: Side; to: Side }
type Side = { seq: number | 'current'; version: string }

/**
 * Reads the two bodies of a comparison. Refuses with 404 `document_not_found` when the caller does not see the
 * document, and with 404 `version_not_found` when the document does not keep one of the versions.
 */
export async function bodyPair(db: Queryable, comparison: Comparison): Promise<BodyPair> {
  const { documentId, caller, from, to } = comparison
  const [old, current] = await comparedBodies(db, { documentId, workspaceIds: visibleWorkspaces(caller), from, to })
  if (old === undefined || current === undefined) throw documentNotFound(documentId)
  const [first, second] = [sideOf('from', { named: from, found: old }), sideOf('to', { named: to, found: current })]
  return {
    heading: { document_id: documentId, from: first.side, to: second.side },
    texts: { from: first.text, to: second.text },
  }
}

// The most characters of JSON that the changed words of a difference take. A hunk takes more than its words: for many
// short changes, the hunks of two bodies of 5 MiB could take 40 MiB.
const roomForWords = 8 * 1024 * 1024

/**
 * The difference of two bodies as JSON text, in the form `DocumentDifference`. A thread compares large bodies. The
 * changed words take at most 8 Mi characters. Where the words take too much time or memory to compare, all blocks come
 * without them. So a rehearsal never fails where its write succeeds. As Markdown, such bodies reject with
 * ComputationLimitError.
 */
export async function differenceText({ texts, heading }: BodyPair, options: DifferenceOptions): Promise<string> {
  const input = { ...texts, heading, ...options }
  try {
    return await compute(comparing, { ...input, roomForWords })
  } catch (error) {
    if (options.format !== 'json' || !(error instanceof ComputationLimitError)) throw error
    return compute(comparing, { ...input, roomForWords: 0 })
  }
}

/** The version of a difference, for its ETag. It depends on both sides and on the options. */
export function differenceVersion({ heading }: BodyPair, { format, ids = 'strict' }: DifferenceOptions): string {
  return textVersion(JSON.stringify([heading, format, ids]))
}

// `roomForWords` is the number of characters that the changed words of all blocks may take.
type Comparing = TwoTexts & DifferenceOptions & { heading: Heading; roomForWords: number }

/** Writes a difference as JSON text. A thread imports this function by its name. @public */
export function compareTexts({ from, to, heading, format, ids, roomForWords }: Comparing): string {
  const [old, current] = [linesOf(from), linesOf(to)]
  if (format === 'json') {
    const paired = ids === 'match' ? linesWithIdsOf(old, current) : old
    const blocks = blockDifferences({ from: paired, to: current }, roomForWords)
    return `${JSON.stringify(heading).slice(0, -1)},"blocks":${blocks}}`
  }
  const [before, after] = [old, current].map((lines) => linesToMarkdown(lines, { anchors: false }).markdown)
  const names = { from: nameOf(heading.from), to: nameOf(heading.to) }
  const content = unifiedText({ from: before ?? '', to: after ?? '' }, names)
  return JSON.stringify({ ...heading, format, content })
}

// Two bodies of together so many characters are compared within 20 ms, also where each search finds a single anchor and
// where each character is a word.
const smallTexts = 16 * 1024

const comparing: Computation<Comparing, string> = computation({
  module: import.meta.url,
  run: compareTexts,
  isSmall: ({ from, to }) => from.length + to.length <= smallTexts,
  cpuMs: ({ from, to }) => Math.min(20_000, 2000 + (from.length + to.length) * 0.005),
})

function sideOf(field: 'from' | 'to', { named, found }: { named: NamedBody; found: ComparedBody }) {
  const { seq, version, body } = found
  if (version === null || body === null) {
    const id = typeof named === 'object' ? named.seq : null
    throw new Refusal('version_not_found', { details: { id, field } })
  }
  return { side: { seq: seq ?? ('current' as const), version }, text: body }
}

function linesOf(text: string): string[] {
  return text.split('\n')
}

function nameOf({ seq }: Side): string {
  return seq === 'current' ? 'current' : `version ${seq}`
}
