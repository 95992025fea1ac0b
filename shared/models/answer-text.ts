import { ModelError } from './model.ts'

// The values of `finish_reason` of an answer that is whole. Some providers send none.
const whole = /^(|stop|stop_sequence|end|end_turn|eos|eos_token|done|complete|completed|finish|finished|success)$/i
// The values that say that the provider had to give up. Another call may succeed.
const passing = /error|resource|abort|cancel|overload|timeout|unavailable/i

/** Throws a ModelError unless the value of `finish_reason` says that the answer is whole. */
export function requireWhole(finishReason: unknown): void {
  if (finishReason == null || whole.test(String(finishReason))) return
  // The value is a word of the provider's protocol. Anything longer might quote a document.
  const shown = /^[a-z_]{1,40}$/i.test(String(finishReason)) ? ` (${finishReason})` : ''
  const message = `The provider stopped before the answer was complete${shown}.`
  const transient = passing.test(shown)
  throw new ModelError(transient ? 'model_error' : 'model_bad_output', { message, transient })
}

/**
 * Returns the answer that the content of a message holds: a text, or a list of parts. Parts that are not text, such as
 * reasoning, are left out, and so is the reasoning in the text.
 */
export function answerText(content: unknown): string {
  const parts: unknown[] = Array.isArray(content) ? content : [content]
  const texts = parts.map((part) => {
    const { type = 'text', text } = (typeof part === 'string' ? { text: part } : (part ?? {})) as Record<
      string,
      unknown
    >
    return (type === 'text' || type === 'output_text') && typeof text === 'string' ? text : ''
  })
  return withoutReasoning(texts.join(''))
}

// The tags between which models think aloud, also after an opening tag that was part of the prompt.
const names = '(?:[a-z]{1,8}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis)|antthinking'
const forms = [
  { open: `<(?:${names})(?:\\s[^<>\\n]*)?>`, close: `</(?:${names})\\s*>` },
  { open: String.raw`\[(?:think|thinking|reasoning)\]`, close: String.raw`\[/(?:think|thinking|reasoning)\]` },
  { open: '◁think▷', close: '◁/think▷' },
  { open: String.raw`<\|begin_of_thought\|>`, close: String.raw`<\|end_of_thought\|>` },
  { open: String.raw`<\|START_THINKING\|>`, close: String.raw`<\|END_THINKING\|>` },
]
// What follows a tag that a text speaks of, such as `<think> is a tag` or `<think> and </think>`.
const spokenOf = '(?! (?:and|or|tags?|blocks?|elements?|is|are|marks?|means|opens?|closes?|starts?|begins?|ends?)\\b)'
const opening = forms.map(({ open, close }) => ({
  open: new RegExp(`^\\s*${open}${spokenOf}`, 'i'),
  close: new RegExp(close, 'i'),
}))
const closing = forms.map(({ close }) => close).join('|')
// A closing tag alone: at the start, on a line of its own, before an empty line, or between two sentences. A text that
// speaks of such a tag does not have it there.
const closingAlone = new RegExp(
  `^\\s*(?:${closing})${spokenOf}|\\n[ \\t]*(?:${closing})[ \\t]*(?:\\n|$)|[^\\s"'\`“‘(](?:${closing})[ \\t]*\\n[ \\t]*\\n` +
    `|[.!?。！？…](?:${closing})(?=\\p{L})`,
  'giu',
)
const solution =
  /^\s*(?:<(?:answer|response)>|<\|begin_of_solution\|>|<\|START_RESPONSE\|>)|<(?:\/(?:answer|response)|\|end_of_solution\||\|END_RESPONSE\|)>\s*$/gi

// A channel of the harmony format, also when the server has dropped the special tokens.
const harmony = /^\s*(?:<\|start\|>(?:assistant)?\s*)?(?:<\|channel\|>|(?=(?:analysis|commentary|final)\s*<\|))/
const bareHarmony = /^\s*(?:analysis|commentary)[\s\S]*assistant(?:commentary)?final/

/**
 * Returns a text without what the model thought aloud before the answer, in any of the usual forms. Reasoning that does
 * not end leaves nothing. A JSON object is returned as it is.
 */
function withoutReasoning(text: string): string {
  if (/^\s*\{/.test(text)) return text
  if (harmony.test(text)) return finalChannel(text)
  let rest = text.replace(bareHarmony, '')
  for (const { open, close } of opening) {
    while (open.test(rest)) {
      const end = close.exec(rest)
      rest = end === null ? '' : rest.slice(end.index + end[0].length)
    }
  }
  const end = [...rest.matchAll(closingAlone)].at(-1)
  if (end !== undefined) rest = rest.slice(end.index + end[0].length)
  return rest === text ? text : rest.replace(solution, '')
}

function finalChannel(text: string): string {
  const final = text.split(/(?:<\|channel\|>|^\s*)final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>/)
  return final.length === 1 ? '' : (final.at(-1) ?? '').replace(/<\|(?:return|end)\|>[\s\S]*$/, '')
}
