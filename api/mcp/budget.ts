import { Type } from 'typebox'
import { estimateTokens } from '../../shared/body/read.ts'
import { cutText } from '../../shared/schema/strings.ts'
import { answerResult, fenceOf } from './results.ts'
import type { ToolAnswer } from './tool.ts'

/** The argument with which a caller bounds an answer. The smallest value has room for an answer without any text. */
export function maxTokens(fallback: number) {
  return Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 50_000,
      default: fallback,
      description: 'of the whole answer, 1000 to 50000',
    }),
  )
}

/**
 * Estimates the tokens of an answer as clients receive it: text and structured content together, as JSON. A token is
 * four ASCII characters or one other character.
 */
function tokensOf(answer: ToolAnswer): number {
  return estimateTokens(JSON.stringify(answerResult(answer)))
}

// The tokens that separate an item from the next one, in the text and in the structured content.
const betweenItems = 1

/**
 * Makes the answer with as many of the first items as the budget admits, perhaps with none. Each item is measured once,
 * and no item behind the budget, so the work is bounded by the budget.
 */
export function mostWithin<Item, Structured extends object>(
  items: readonly Item[],
  { budget, make }: { budget: number; make: (items: readonly Item[]) => ToolAnswer<Structured> },
): ToolAnswer<Structured> {
  const empty = tokensOf(make([]))
  let [used, count] = [empty, 0]
  for (const item of items) {
    used += tokensOf(make([item])) - empty + betweenItems
    if (used > budget) break
    count += 1
  }
  // The sum is an estimate: the fence of all items together may be longer than that of each.
  let answer = make(items.slice(0, count))
  while (count > 0 && tokensOf(answer) > budget) {
    count = Math.floor(count * 0.9)
    answer = make(items.slice(0, count))
  }
  return answer
}

/**
 * Makes the answer with as many characters of a text as the budget admits. `make` puts the text into the structured
 * content and into the untrusted text, each time once. `isCut` says whether characters are left out.
 */
export function longestWithin<Structured extends object>(
  text: string,
  { budget, make }: { budget: number; make: (text: string, isCut: boolean) => ToolAnswer<Structured> },
): ToolAnswer<Structured> {
  // A character takes at least a quarter of a token, twice. So a longer text is not even measured.
  if (text.length <= budget * 2) {
    const whole = make(text, false)
    if (tokensOf(whole) <= budget) return whole
  }
  const fences = 2 * fenceOf(text).length
  return make(prefixWithin(text, (budget - tokensOf(make('', true))) * 4 - fences), true)
}

/** A title or name as answers show it, so that it leaves room for the text. */
export function shortName(name: string): string {
  return cutText(name, 100)
}

// The longest beginning of a text that takes at most so many quarters of a token, in JSON and twice.
function prefixWithin(text: string, quarters: number): string {
  let [left, length] = [quarters, 0]
  for (const character of text) {
    left -= 2 * quartersOf(character)
    if (left < 0) break
    length += character.length
  }
  return text.slice(0, length)
}

function quartersOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code >= 128) return 4
  if (code < 32) return JSON.stringify(character).length - 2
  return character === '"' || character === '\\' ? 2 : 1
}
