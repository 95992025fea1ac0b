import { Extension } from '@tiptap/core'
import { DOMParser, type ParseOptions, type Schema, type Slice } from '@tiptap/pm/model'
import { Plugin } from '@tiptap/pm/state'

/**
 * Reads pasted HTML as word processors write it. They say bold and italic by styles, which the policy of the page
 * switches off, and Word writes a list as paragraphs.
 */
export const PastedHtml = Extension.create({
  name: 'pastedHtml',
  addProseMirrorPlugins() {
    return [new Plugin({ props: { clipboardParser: new PastedHtmlParser(this.editor.schema) } })]
  },
})

class PastedHtmlParser extends DOMParser {
  constructor(schema: Schema) {
    super(schema, DOMParser.fromSchema(schema).rules)
  }

  override parseSlice(pasted: Node, options?: ParseOptions): Slice {
    if (pasted instanceof Element || pasted instanceof DocumentFragment) {
      makeLists(pasted)
      switchStylesOn(pasted)
    }
    return super.parseSlice(pasted, options)
  }
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
