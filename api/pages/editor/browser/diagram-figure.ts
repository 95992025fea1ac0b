import { drawDiagram } from './diagram-frame.ts'

// The pause after a change, in milliseconds, until the diagram is drawn anew.
const pauseMs = 400
// The most characters of a diagram that is drawn.
const longest = 20_000

const darkness = matchMedia('(prefers-color-scheme: dark)')

/**
 * The figure that shows one diagram, or says why it is not drawn. It draws when it comes near the screen, or when
 * `drawNow` is called. `onDrawn` is called after each attempt.
 */
export class DiagramFigure {
  readonly element = document.createElement('figure')
  #source: string | null = null
  #timer = 0
  #isNear = false
  #address = ''
  readonly #watch = new IntersectionObserver((entries) => {
    if (entries.some(({ isIntersecting }) => isIntersecting)) this.drawNow()
  })
  readonly #onDrawn: () => void
  readonly #onColours = () => void this.#draw()
  /** The source that is shown or being drawn, with its colours. */
  #shown = ''

  constructor(onDrawn: () => void) {
    this.#onDrawn = onDrawn
    this.element.className = 'diagram waiting'
    this.element.contentEditable = 'false'
    this.#say('The diagram is being drawn…')
    this.#watch.observe(this.element)
    darkness.addEventListener('change', this.#onColours)
  }

  /** Shows the diagram of a source. While the source changes, the diagram before stays. */
  show(source: string): void {
    if (source === this.#source) return
    this.#source = source
    clearTimeout(this.#timer)
    this.#timer = window.setTimeout(() => void this.#draw(), pauseMs)
  }

  /** Whether the diagram was not near the screen so far. */
  get isWaiting(): boolean {
    return !this.#isNear
  }

  /** Draws the diagram, and from now on each time its source changes. */
  drawNow(): void {
    this.#watch.disconnect()
    this.#isNear = true
    this.element.classList.remove('waiting')
    void this.#draw().then(this.#onDrawn)
  }

  /** Ends the figure of a diagram that is not in the document any more. */
  end(): void {
    clearTimeout(this.#timer)
    this.#watch.disconnect()
    darkness.removeEventListener('change', this.#onColours)
    URL.revokeObjectURL(this.#address)
  }

  async #draw(): Promise<void> {
    const source = this.#source ?? ''
    if (!this.#isNear) return
    if (source.trim() === '' || source.length > longest) this.#shown = ''
    if (source.trim() === '') return this.#say('Write a diagram in the language of Mermaid.')
    if (source.length > longest) return this.#say('The diagram is too long to be drawn.')
    const isDark = darkness.matches
    const shown = `${isDark} ${source}`
    if (shown === this.#shown) return
    this.#shown = shown
    const drawing = await drawDiagram({ source, isDark })
    // Something has changed meanwhile, and another call draws it.
    if (shown !== this.#shown) return
    if (drawing.error !== undefined) return this.#say(`The diagram is not drawn: ${drawing.error}`)
    const picture = document.createElement('img')
    picture.alt = 'The diagram of the code above'
    picture.width = drawing.width
    picture.height = drawing.height
    picture.dataset['theme'] = isDark ? 'dark' : 'light'
    URL.revokeObjectURL(this.#address)
    this.#address = URL.createObjectURL(new Blob([drawing.svg], { type: 'image/svg+xml' }))
    picture.src = this.#address
    this.element.replaceChildren(picture)
  }

  #say(words: string): void {
    const line = document.createElement('figcaption')
    line.textContent = words
    this.element.replaceChildren(line)
  }
}
