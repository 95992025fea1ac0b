import address from '@mermaid-js/tiny/dist/mermaid.tiny.js'
import type { Answer, Question } from './messages.ts'

/*
 * Draws diagrams for the editor, in a frame that has no origin: Mermaid reads the text of strangers, and must not reach
 * the session of the person who reads it. The frame sends each diagram back as the text of an SVG.
 */

/** What the frame uses of Mermaid, whose package has no types. */
type Mermaid = {
  initialize: (options: object) => void
  render: (id: string, source: string) => Promise<{ svg: string }>
}

let loading: Promise<Mermaid> | null = null
let last: Promise<void> = Promise.resolve()

addEventListener('message', ({ data, source }: MessageEvent<Question>) => {
  if (source !== parent) return
  last = last.then(async () => parent.postMessage(await answer(data), '*'))
})

async function answer({ number, source, isDark }: Question): Promise<Answer> {
  try {
    loading ??= loadMermaid()
    const mermaid = await loading
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      // The SVG is shown as a picture, in which only some browsers show HTML.
      htmlLabels: false,
      theme: isDark ? 'dark' : 'default',
      fontFamily: 'system-ui, sans-serif',
    })
    const { svg } = await mermaid.render('diagram', source)
    return { number, ...asPicture(svg) }
  } catch (error) {
    return { number, error: error instanceof Error ? error.message : String(error) }
  }
}

// The package is a script that makes a global name, and no module.
function loadMermaid(): Promise<Mermaid> {
  const script = document.createElement('script')
  script.src = new URL(address, import.meta.url).href
  // Without an origin, the frame may load the scripts of the service only as everybody else may.
  script.crossOrigin = 'anonymous'
  document.head.append(script)
  return new Promise((resolve, reject) => {
    script.addEventListener('load', () => resolve((globalThis as unknown as { mermaid: Mermaid }).mermaid))
    script.addEventListener('error', () => reject(new Error('Mermaid was not loaded')))
  })
}

// A picture needs well-formed XML and a size of its own.
function asPicture(svg: string): { svg: string; width: number; height: number } {
  const place = document.createElement('div')
  place.innerHTML = svg
  const drawing = place.querySelector('svg')
  if (drawing === null) throw new Error('nothing was drawn')
  const { width, height } = drawing.viewBox.baseVal
  drawing.removeAttribute('style')
  drawing.setAttribute('width', String(width))
  drawing.setAttribute('height', String(height))
  return { svg: new XMLSerializer().serializeToString(drawing), width, height }
}
