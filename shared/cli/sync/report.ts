import type { Output } from '../terminal/output.ts'
import { problems as problemTexts } from './local-scan.ts'
import type { Action } from './plan.ts'
import { newResult, type Preview, type RoundResult } from './session.ts'

/** An action as it is shown: what happens, to which file, and to which document. */
export type ShownAction = { action: string; path: string; from?: string; document_id: string | null }

/** What a sync answers to a program. */
export type SyncReport = {
  dry_run: boolean
  actions: ShownAction[]
  conflicts: RoundResult['conflicts']
  losses: RoundResult['losses']
  failed: RoundResult['failed']
  withheld: ShownAction[]
  left_alone: { path: string; reason: string }[]
}

/** The report about what a sync would do. */
export function previewReport({ plan, problems }: Preview): SyncReport {
  return reportOf({ ...newResult(), done: plan.actions, withheld: plan.withheld, problems }, true)
}

/** The report about what the rounds of a sync have done. */
export function resultReport(rounds: readonly RoundResult[]): SyncReport {
  const last = rounds.at(-1)
  const conflicts = rounds.flatMap((round) => round.conflicts)
  const distinct = [...new Map(conflicts.map((conflict) => [conflict.copy, conflict])).values()]
  const [done, losses] = [rounds.flatMap((round) => round.done), rounds.flatMap((round) => round.losses)]
  const { failed = [], later = [], withheld = [], problems = [] } = last ?? {}
  // What the last round would leave to another round is not done.
  const all = { done, conflicts: distinct, losses, failed: [...failed, ...later], withheld, problems }
  return reportOf({ ...newResult(), ...all }, false)
}

/** Prints a report for a person. */
export function showReport(report: SyncReport, out: Output): void {
  for (const { action, path, from } of report.actions) {
    out.line({ text: signs[action] ?? '', style: 'cyan' }, ` ${action.padEnd(16)} `, from ? `${from} → ` : '', path)
  }
  for (const { path, copy, blocks, labels, losses } of report.conflicts) {
    const what = [...(blocks.length > 0 ? [`${blocks.length} blocks`] : []), ...labels, ...losses].join(', ')
    out.line({ text: '!', style: 'yellow' }, ` conflict         ${path} (${what}): your version is in ${copy}`)
  }
  for (const { path, losses } of report.losses) {
    out.line({ text: '!', style: 'yellow' }, ` not in document  ${path}: ${losses.join(', ')}`)
  }
  // What a quota refuses is one matter, however many files it keeps from the service.
  const failures = Map.groupBy(report.failed, ({ path, code, message }) => (code === 'quota_exceeded' ? message : path))
  for (const [first, ...others] of failures.values()) {
    const rest = others.length > 0 ? ` and ${others.length} more` : ''
    out.line({ text: '✗', style: 'red' }, ` failed           ${first?.path}${rest}: ${first?.message}`)
  }
  for (const { path, reason } of report.left_alone) {
    out.note({ text: `left alone: ${path}: ${problemTexts[reason as keyof typeof problemTexts]}`, style: 'dim' })
  }
  const { actions, conflicts, failed, withheld } = report
  if (withheld.length > 0) {
    for (const { action, path } of withheld)
      out.line({ text: '-', style: 'yellow' }, ` not done         ${action} ${path}`)
    out.line(
      `${withheld.length} deletions are more than 10 % of all documents. Nothing was deleted; --yes deletes them.`,
    )
  }
  const count = (number: number, word: string) => (number > 0 ? `, ${number} ${word}` : '')
  const done = report.dry_run ? 'would be done' : 'done'
  const rest = `${count(conflicts.length, 'conflicts')}${count(failed.length, 'failed')}${count(withheld.length, 'not done')}`
  if (actions.length + conflicts.length + failed.length + withheld.length === 0) out.line('Everything is in step.')
  else out.line({ text: `${actions.length} ${done}${rest}`, style: 'bold' })
}

const signs: Record<string, string> = {
  upload: '↑',
  create: '↑',
  restore: '↑',
  download: '↓',
  merge: '↕',
  trash: '-',
  'delete file': '-',
}

function reportOf(
  { done, conflicts, losses, failed, withheld, problems }: RoundResult,
  isPreview: boolean,
): SyncReport {
  return {
    dry_run: isPreview,
    actions: done.flatMap(shown),
    conflicts,
    losses,
    failed,
    withheld: withheld.flatMap(shown),
    left_alone: problems,
  }
}

function shown(action: Action): ShownAction[] {
  const { path } = action
  const document_id = 'id' in action ? action.id : null
  switch (action.type) {
    case 'forget':
      return []
    case 'remove':
      return [{ action: 'delete file', path, document_id }]
    case 'update': {
      const { changes, from } = action
      const word = changes.file && changes.document ? 'merge' : changes.file ? 'upload' : 'download'
      return [{ action: word, path, ...(from !== path && { from }), document_id }]
    }
    default:
      return [{ action: action.type, path, document_id }]
  }
}
