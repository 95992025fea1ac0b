import { Extension } from '@tiptap/core'
import { DOMParser, type ParseOptions, type Schema, type Slice } from '@tiptap/pm/model'
import { Plugin } from '@tiptap/pm/state'
import type { Warn } from './status-line.ts'

/**
 * Reads pasted HTML as other programs write it. Word processors say bold and italic by styles, which the policy of the
 * page switches off, and Word writes a list as paragraphs. Formulas, code with its header bar and lists of tasks become
 * blocks of their own kind. Pictures are left out, because they are on other hosts, and are named to the user.
 */
export const PastedHtml = Extension.create<{ warn: Warn }>({
  name: 'pastedHtml',
  addProseMirrorPlugins() {
    const parser = new PastedHtmlParser(this.editor.schema)
    const tell = () => {
      const names = parser.leftOut.splice(0)
      if (names.length > 0) this.options.warn(leftOutWords(names))
      return false
    }
    return [new Plugin({ props: { clipboardParser: parser, handlePaste: tell, handleDrop: tell } })]
  },
})

class PastedHtmlParser extends DOMParser {
  /** The names of the pictures that the last paste has left out. */
  leftOut: string[] = []

  constructor(schema: Schema) {
    super(schema, DOMParser.fromSchema(schema).rules)
  }

  override parseSlice(pasted: Node, options: ParseOptions = {}): Slice {
    this.leftOut = []
    // What an editor of bodies has copied has its nodes already, and its line ends are text.
    if (options.preserveWhitespace) return super.parseSlice(pasted, { ...options, preserveWhitespace: 'full' })
    if (pasted instanceof Element || pasted instanceof DocumentFragment) {
      makeLists(pasted)
      makeFormulas(pasted)
      makeCode(pasted)
      makeTasks(pasted)
      for (const end of pasted.querySelectorAll('br.Apple-interchange-newline')) end.remove()
      this.leftOut = [...pasted.querySelectorAll('img')].flatMap(pictureName)
      switchStylesOn(pasted)
    }
    return super.parseSlice(pasted, options)
  }
}

// A picture of one pixel counts readers. It is no loss.
function pictureName(picture: HTMLImageElement): string[] {
  const { alt, src, width, height } = picture
  if (picture.closest('[data-node]') || (picture.hasAttribute('width') && Math.max(width, height) <= 1)) return []
  const file = /^https?:[^?#]*\/([^/?#]+)/.exec(src)?.[1]
  return [(alt || file || 'without a name').slice(0, 80)]
}

function leftOutWords(names: string[]): string {
  const shown = names.slice(0, 5).map((name) => `“${name}”`)
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
  const what = names.length === 1 ? 'A picture was' : `${names.length} pictures were`
  return `${what} not pasted: ${shown.join(', ')}${more}. To add a picture, paste or drop its file.`
}

// Pages draw a formula, and keep its LaTeX beside the drawing: in an annotation of MathML, as KaTeX and MathJax do, in
// an attribute, or in a script, as MathJax 2 does. Such a script follows the drawing.
const drawings = '.katex-display, .katex, mjx-container, .MathJax_Display, .MathJax, .mwe-math-element, math'

function makeFormulas(pasted: ParentNode): void {
  for (const script of pasted.querySelectorAll('script[type^="math/tex"]')) {
    for (let drawn = script.previousElementSibling; drawn?.matches('[class*="MathJax"]'); ) {
      const before = drawn.previousElementSibling
      drawn.remove()
      drawn = before
    }
    putFormula(script, script.textContent, /mode=display/.test(script.getAttribute('type') ?? ''))
  }
  for (const math of pasted.querySelectorAll('math, [data-mathml]')) {
    // The text of the drawing can be in `data-mathml` alone.
    const template = math.ownerDocument.createElement('template')
    template.innerHTML = math.getAttribute('data-mathml') ?? ''
    const written = [math, template.content].map(
      (one) => one.querySelector('annotation[encoding*="tex" i]')?.textContent,
    )
    const latex = written.find(Boolean) ?? math.getAttribute('data-latex') ?? math.getAttribute('alttext')
    let drawn: Element = math
    for (let around: Element | null = math; around; around = around.parentElement?.closest(drawings) ?? null)
      if (!around.closest('[data-node]')) drawn = around
    const isBlock =
      drawn.matches('.katex-display, .MathJax_Display, [display="true"], [display="block"]') ||
      math.getAttribute('display') === 'block'
    if (latex && pasted.contains(drawn)) putFormula(drawn, latex, isBlock)
  }
}

function putFormula(drawn: Element, latex: string | null, isBlock: boolean): void {
  const formula = drawn.ownerDocument.createElement(isBlock ? 'div' : 'span')
  formula.setAttribute('data-node', isBlock ? 'blockMath' : 'inlineMath')
  formula.setAttribute('data-latex', JSON.stringify((latex ?? '').trim()))
  drawn.replaceWith(formula)
}

// Above or within a block of code there is often a bar with the language and a button to copy it.
function makeCode(pasted: ParentNode): void {
  for (const button of pasted.querySelectorAll('button, clipboard-copy')) {
    button.parentElement?.setAttribute('data-bar', '')
    button.remove()
  }
  for (const block of pasted.querySelectorAll('pre')) {
    const [found, ...others] = block.querySelectorAll('code')
    if (others.length > 0) continue
    const code = found ?? block.ownerDocument.createElement('code')
    if (found === undefined) {
      code.append(...block.childNodes)
      block.append(code)
    }
    const bars: Element[] = []
    for (let inner: Element = code; inner !== block; inner = inner.parentElement ?? block)
      bars.push(...[...(inner.parentElement?.children ?? [])].filter((one) => one !== inner && one.matches(barTags)))
    const around = [code, block, block.parentElement, block.parentElement?.parentElement].filter((one) => one != null)
    const named = around.flatMap((one) => {
      const { language, lang } = one instanceof HTMLElement ? one.dataset : {}
      return language ?? lang ?? languageClass.exec(one.className)?.[1] ?? []
    })
    const above = block.previousElementSibling ?? block.parentElement?.previousElementSibling
    const word = bars.map((bar) => bar.textContent.trim().toLowerCase()).find((text) => languageName.test(text))
    const language = (named[0] ?? word)?.toLowerCase()
    for (const bar of bars) bar.remove()
    if (above?.matches(barTags) && isBar(above, language)) above.remove()
    for (const line of code.querySelectorAll('div, p')) line.replaceWith(...line.childNodes, '\n')
    code.className = language === undefined ? '' : `language-${language}`
    block.replaceChildren(code)
  }
}

const barTags = 'div, header, figcaption, span'

function isBar(above: Element, language = ''): boolean {
  const text = above.textContent.trim().toLowerCase()
  const hasButton = above.matches('[data-bar]') || above.querySelector('[data-bar]') !== null
  return text === language || (hasButton && text.length <= 40)
}

const languageClass = /(?:^|\s)(?:language-|lang-|highlight-source-|brush:\s?)([\w+#.-]+)/
const languageName = /^[a-z][\w+#.-]{0,20}$/

// Google Docs says by its role that an item can be done, and GitHub by a box. A list of tasks has nothing but tasks, so
// a list with other items becomes several lists.
function makeTasks(pasted: ParentNode): void {
  for (const list of [...pasted.querySelectorAll('ul, ol')].reverse()) {
    let part: HTMLElement | null = null
    for (const item of [...list.children]) {
      const isDone = item.localName === 'li' ? takeBox(item) : null
      if (isDone === null && item.localName === 'li') part = null
      if (isDone === null && part === null) continue
      if (isDone !== null) {
        item.setAttribute('data-type', 'taskItem')
        item.setAttribute('data-checked', String(isDone))
      }
      if (part === null) {
        part = list.ownerDocument.createElement('ul')
        part.setAttribute('data-type', 'taskList')
        const before = list.cloneNode() as Element
        while (list.firstChild && list.firstChild !== item) before.append(list.firstChild)
        if (before.children.length > 0) list.before(before)
        list.before(part)
      }
      part.append(item)
    }
    if (list.children.length === 0) list.remove()
  }
}

// Takes the box of an item away, and tells whether it is ticked; null for an item without a box.
function takeBox(item: Element): boolean | null {
  if (item.getAttribute('data-type') === 'taskItem') return item.getAttribute('data-checked') === 'true'
  const box = [...item.querySelectorAll('input[type="checkbox"], [aria-roledescription="checkbox"]')].find(
    (one) => one.closest('li') === item,
  )
  const isTask = item.getAttribute('role') === 'checkbox'
  if (box === undefined && !isTask) return null
  box?.remove()
  return isTask ? item.getAttribute('aria-checked') === 'true' : (box?.hasAttribute('checked') ?? false)
}

// The policy forbids styles in HTML, and allows those of a script. The HTML belongs to no page, so nothing is shown.
function switchStylesOn(pasted: ParentNode): void {
  for (const element of pasted.querySelectorAll<HTMLElement>('[style]')) {
    element.style.cssText = element.getAttribute('style') ?? ''
  }
}

// A paragraph of Word that is an item says its level and its list in its style, such as `mso-list:l0 level2 lfo1`. The
// sign of the item is a part of its text that Word tells other programs to ignore.
const items = 'p[style*="mso-list:" i]'
const signs = '[style*="mso-list:Ignore" i], [style*="mso-list: Ignore" i]'
const levelOfItem = /mso-list:[^;]{0,100}?\blevel(\d)/i
const number = /^\s*\(?(\d{1,9}|[a-z]|[ivxlc]{1,9})[.)]/i

function makeLists(pasted: ParentNode): void {
  // The lists around the last item, the outermost first.
  let open: HTMLElement[] = []
  for (const item of pasted.querySelectorAll<HTMLElement>(items)) {
    const level = Number(levelOfItem.exec(item.getAttribute('style') ?? '')?.[1] ?? 1)
    const sign = item.querySelector(signs)
    const kind = number.test(sign?.textContent ?? '') ? 'ol' : 'ul'
    sign?.remove()
    const isNext = open[0] !== undefined && item.previousElementSibling === open[0]
    open = isNext ? open.slice(0, Math.max(level, 1)) : []
    const isDeeper = level > open.length
    if (isDeeper || open.at(-1)?.localName !== kind) {
      if (!isDeeper) open.pop()
      const list = item.ownerDocument.createElement(kind)
      const around = open.at(-1)?.lastElementChild
      if (around) around.append(list)
      else item.before(list)
      open.push(list)
    }
    const line = item.ownerDocument.createElement('li')
    open.at(-1)?.append(line)
    line.append(item)
  }
}
