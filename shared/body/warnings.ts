import type { Warning } from './document.ts'

// So many warnings of one answer are shown.
const shownWarnings = 100

/**
 * The warnings of an answer: the first 100, and behind them one with the code `warnings_truncated` that says how many
 * were left out. A request can give rise to far more text of warnings than it holds itself.
 */
export function answerWarnings(warnings: readonly Warning[]): Warning[] {
  const left = warnings.length - shownWarnings
  if (left <= 0) return [...warnings]
  const message = left === 1 ? 'One more warning was left out.' : `${left} more warnings were left out.`
  return [...warnings.slice(0, shownWarnings), { code: 'warnings_truncated', message, block_id: null }]
}
