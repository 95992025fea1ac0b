import type { Answer, Question } from '../../diagrams/browser/messages.ts'

/** A frame, and whether it has been loaded in time. */
type Frame = { element: HTMLIFrameElement; loaded: Promise<boolean> }

/** A diagram as an SVG with its size in pixels, or why there is none, in words. */
export type Drawing = { svg: string; width: number; height: number; error?: never } | { error: string }

// How long the frame may take for one diagram, in milliseconds, and the most characters of a drawing.
const patienceMs = 15_000
const longest = 2_000_000
const largest = 10_000

let frame: Frame | null = null
let last: Promise<unknown> = Promise.resolve()
let number = 0

/**
 * Draws a diagram in a frame without an origin, which is loaded for the first diagram. Diagrams are drawn one after the
 * other. A frame that does not answer is replaced.
 */
export function drawDiagram(diagram: Omit<Question, 'number'>): Promise<Drawing> {
  const drawing = last.then(() => draw(diagram))
  last = drawing.catch(() => {})
  return drawing
}

async function draw(diagram: Omit<Question, 'number'>): Promise<Drawing> {
  frame ??= openFrame()
  const { element, loaded } = frame
  number += 1
  const question: Question = { ...diagram, number }
  const answer = (await loaded) ? await answerOf(element, question) : null
  if (answer === null) {
    element.remove()
    frame = null
    return { error: 'it takes too long.' }
  }
  // The frame runs what a stranger has written, so its answer may be anything.
  if (answer.error !== undefined) return { error: String(answer.error).slice(0, 500) }
  const { svg, width, height } = answer
  const isShown =
    typeof svg === 'string' && svg.length <= longest && [width, height].every((side) => side > 0 && side <= largest)
  return isShown ? { svg, width, height } : { error: 'it is too large.' }
}

function answerOf(opened: HTMLIFrameElement, question: Question): Promise<Answer | null> {
  return new Promise((resolve) => {
    const end = (answer: Answer | null) => {
      removeEventListener('message', hear)
      clearTimeout(timer)
      resolve(answer)
    }
    const hear = ({ source, data }: MessageEvent<Answer>) => {
      if (source === opened.contentWindow && data?.number === question.number) end(data)
    }
    const timer = setTimeout(() => end(null), patienceMs)
    addEventListener('message', hear)
    opened.contentWindow?.postMessage(question, '*')
  })
}

function openFrame(): Frame {
  const opened = document.createElement('iframe')
  opened.setAttribute('sandbox', 'allow-scripts')
  opened.src = '/editor/diagrams'
  opened.className = 'drawing'
  opened.title = 'Drawing of diagrams'
  opened.tabIndex = -1
  opened.setAttribute('aria-hidden', 'true')
  document.body.append(opened)
  const loaded = new Promise<boolean>((resolve) => {
    opened.addEventListener('load', () => resolve(true))
    setTimeout(() => resolve(false), patienceMs)
  })
  return { element: opened, loaded }
}
