import { common, createLowlight } from 'lowlight'

// Code in Markdown is not coloured. For hostile text, the time of its grammar grows with the cube of the length.
const { markdown: _, ...grammars } = common

const { highlight, registered } = createLowlight(grammars)

/** A stretch of code with the classes that colour it; offsets are those of the code. */
export type ColouredSpan = { from: number; to: number; classes: string }

type Part = ReturnType<typeof highlight>['children'][number]

/** The spans of a code that have a colour; none for an unknown language. */
export function spansOf(code: string, language: string): ColouredSpan[] {
  if (!registered(language)) return []
  const spans: ColouredSpan[] = []
  let offset = 0
  const walk = (parts: readonly Part[]): void => {
    for (const part of parts) {
      const from = offset
      if (part.type === 'text') offset += part.value.length
      if (part.type !== 'element') continue
      walk(part.children)
      spans.push({ from, to: offset, classes: [part.properties['className']].flat().join(' ') })
    }
  }
  walk(highlight(language, code).children)
  return spans
}
