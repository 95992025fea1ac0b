import { type Static, Type } from 'typebox'
import { blockHash } from '../../shared/body/canonical.ts'
import { plainText } from '../../shared/body/text.ts'
import type { BlockDifference, DocumentDifference, InlineHunk } from '../../shared/differences/schema.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import { BlockHash, Nullable } from '../../shared/schema/identifiers.ts'
import { cutText } from '../../shared/schema/strings.ts'
import { afterWrite, storedNote } from './after-write.ts'
import { mostWithin } from './budget.ts'
import type { Door } from './door.ts'
import type { ToolAnswer, ToolUse } from './tool.ts'

/** A changed block as tools show it. */
export const ChangedBlock = Type.Object({
  op: Type.Enum(['added', 'removed', 'modified', 'moved']),
  block_id: Type.String(),
  hash: Nullable(BlockHash),
  text: Type.String({ description: '[-taken out-] and {+put in+}' }),
})
export type ChangedBlock = Static<typeof ChangedBlock>

type Difference = Static<typeof DocumentDifference>
type Block = Static<typeof BlockDifference>
type Hunk = Static<typeof InlineHunk>

/**
 * The members of an answer that show a difference. Without them, the difference is not known, and `note` says why and
 * how to get it.
 */
export const differenceMembers = {
  changed_blocks: Type.Optional(Type.Array(ChangedBlock)),
  omitted: Type.Optional(Type.Integer()),
  note: Type.Optional(Type.String()),
}

/** A difference, or a sentence that says why it is not known and how to get it. */
export type SeenDifference = { difference: Pick<Difference, 'blocks'> } | { difference: null; note: string }

/**
 * The difference that a write has made which has answered with a version. Others may have written since: then the step
 * to this version is looked for among the newest kept versions. Never throws, since the write is stored.
 */
export async function writtenDifference(
  use: ToolUse,
  written: { documentId: string; version: string },
): Promise<SeenDifference> {
  const read = await afterWrite(use, () => stepTo(use.door, written))
  if (read.value !== null) return { difference: read.value }
  if ('code' in read && !absences.has(read.code)) {
    const lacking = 'the difference could not be read now'
    return { difference: null, note: `${storedNote(lacking, read.code)}: history with action difference shows it.` }
  }
  return { difference: null, note: 'the difference is not available: history and read show what is there.' }
}

/** The answer of a route that writes a body. A rehearsal has the difference already. */
type Written = {
  documentId: string
  version: string
  dryRun: boolean
  diff?: Pick<Difference, 'blocks'>
  warnings?: readonly { message: string }[]
}

/** Makes the answer to a write of a body, or to its rehearsal, with the difference that it makes. */
export async function writeAnswer(use: ToolUse, { documentId, version, dryRun, diff, warnings = [] }: Written) {
  const seen = diff === undefined ? await writtenDifference(use, { documentId, version }) : { difference: diff }
  const told = toldWarnings(warnings)
  return differenceAnswer(seen, {
    structured: {
      document_id: documentId,
      version,
      freshness: 'current' as const,
      dry_run: dryRun,
      ...told.structured,
    },
    summary: `${dryRun ? `Nothing was stored; ${documentId} would get` : `Stored; ${documentId} now has`} version ${version}`,
    warnings: told.lines,
    budget: budgetOfWrite,
  })
}

/** The first warnings of a write: a member of the structured content, and lines of untrusted text. */
export function toldWarnings(warnings: readonly { message: string }[]) {
  const told = warnings.slice(0, 5).map(({ message }) => message)
  const structured: { warnings?: string[] } = told.length === 0 ? {} : { warnings: told }
  return { structured, lines: told.map((message) => `warning: ${message}`) }
}

// The most tokens of an answer to a write. What does not fit can be read in the history.
const budgetOfWrite = 2500

/**
 * Makes the answer that shows a difference within a budget. `summary` is a clause without its end, to which the number
 * of blocks is added.
 */
export function differenceAnswer<Structured extends object>(
  seen: SeenDifference,
  shown: { structured: Structured; summary: string; warnings?: readonly string[]; budget: number },
): ToolAnswer<Structured & { changed_blocks?: ChangedBlock[]; omitted?: number; note?: string }> {
  const { structured, summary, warnings = [], budget } = shown
  if (seen.difference === null) {
    const { note } = seen
    const untrusted = warnings.length === 0 ? {} : { untrusted: warnings.join('\n') }
    return { structured: { ...structured, note }, summary: `${summary}; ${note}`, ...untrusted }
  }
  const { blocks = [] } = seen.difference
  return mostWithin(blocks, {
    budget,
    make: (some) => {
      const changed_blocks = some.map(changedBlock)
      return {
        structured: { ...structured, changed_blocks, omitted: blocks.length - some.length },
        summary: `${summary}; ${some.length} of ${blocks.length} changed blocks.`,
        untrusted: [changeLines(changed_blocks), ...warnings].join('\n'),
      }
    },
  })
}

async function stepTo(door: Door, written: { documentId: string; version: string }): Promise<Difference | null> {
  const diff = async (bodies: { from?: number; to?: number }) => {
    const params = { id: written.documentId }
    const query = { ...bodies, ids: 'match' }
    return (await door<Difference>({ operationId: 'getDiff', params, query })).data
  }
  let step = await diff({})
  const newest = Number(step.from.seq)
  for (let back = 0; step.to.version !== written.version; back += 1) {
    if (back === stepsLookedAt) return null
    step = await diff({ from: newest - back - 1, to: newest - back })
  }
  return step
}

// How many steps before the newest are looked at. Each step is a read, and counts as one.
const stepsLookedAt = 12

// The refusals that say that the difference is not there, or not for this token.
const absences: ReadonlySet<ErrorCode> = new Set(['insufficient_scope', 'version_not_found', 'invalid_request'])

// A changed block with its words that were taken out and put in.
function changedBlock(block: Block): ChangedBlock {
  return {
    op: block.op,
    block_id: block.block_id,
    hash: block.after === null ? null : blockHash(block.after),
    text: cutText(changedText(block), mostCharacters),
  }
}

function changeLines(changed: readonly ChangedBlock[]): string {
  return changed.map(({ op, block_id, hash, text }) => `${op} ${block_id} ${hash ?? ''}\n${text}`).join('\n')
}

// The most characters of one block.
const mostCharacters = 800
// How much of unchanged text stands beside a change.
const besideChange = 60

function changedText({ before, after, hunks, children }: Block): string {
  if (hunks?.some(({ op }) => op !== 'equal')) return wordsOf(hunks)
  if (children !== undefined && children.length > 0) return children.map((child) => wordsOf(child.hunks)).join('\n')
  const [old, fresh] = [before, after].map((node) => (node === null ? '' : plainText(node)))
  if (before === null || after === null) return before === null ? `{+${fresh}+}` : `[-${old}-]`
  return old === fresh ? `${fresh}` : `[-${old}-]{+${fresh}+}`
}

function wordsOf(hunks: readonly Hunk[]): string {
  const shown = hunks.map(({ op, text }, index) => {
    if (op === 'delete') return `[-${text}-]`
    if (op === 'insert') return `{+${text}+}`
    const isLast = index === hunks.length - 1
    const head = index === 0 ? '' : text.slice(0, besideChange)
    const tail = isLast ? '' : text.slice(-besideChange)
    return text.length <= head.length + tail.length ? text : `${head}…${tail}`
  })
  return shown.join('')
}
