import type { BodyNode } from '../../../shared/body/document.ts'

type Direction = 'ltr' | 'rtl'

/**
 * The direction of the first letter in a node, as browsers find it for `dir="auto"`. Letters in code, math and raw HTML
 * do not count. Null when there is no letter. The result is cached by node.
 */
export function directionOf(node: BodyNode): Direction | null {
  let direction = known.get(node)
  if (direction === undefined) {
    direction = firstDirection(node)
    known.set(node, direction)
  }
  return direction
}

const known = new WeakMap<BodyNode, Direction | null>()

function firstDirection({ type, text, marks, content = [] }: BodyNode): Direction | null {
  if (type === 'codeBlock' || marks?.some((mark) => mark.type === 'code')) return null
  if (text !== undefined) return directionOfText(text)
  for (const child of content) {
    const direction = directionOf(child)
    if (direction !== null) return direction
  }
  return null
}

function directionOfText(text: string): Direction | null {
  const letter = /\p{L}/u.exec(text)?.[0]
  if (letter === undefined) return null
  return rightToLeft.test(letter) ? 'rtl' : 'ltr'
}

const rightToLeft = new RegExp(
  ['Adlm', 'Arab', 'Hebr', 'Mand', 'Mend', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa', 'Yezi']
    .map((script) => `\\p{Script=${script}}`)
    .join('|'),
  'u',
)
