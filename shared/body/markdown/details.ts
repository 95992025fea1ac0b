import type { BlockContent, RootContent } from 'mdast'
import type { BodyNode } from '../document.ts'
import { type ExportContext, inside } from './export-context.ts'
import { exportInline } from './export-inline.ts'
import { isHtmlInline } from './html-syntax.ts'

/**
 * Details as HTML around Markdown: `<details>` with a `<summary>`, the content, `</details>`. A summary that HTML
 * says as exactly (texts and raw tags) stands inside its tag, any other between two lines of its own. `exportFlow`
 * writes the blocks inside; it is passed in because it comes back here for details within details.
 */
export function exportDetails(node: BodyNode, { context, exportFlow }: Recursion): RootContent[] {
  const open = node.attrs?.open === true ? '<details open>' : '<details>'
  const [summary, content] = node.content ?? []
  // The closing tag has to stay readable, so the last block inside is not the last of the text.
  const flow = exportFlow(content?.content, content ? inside(context, content, 'nested') : context, false)
  const html = (value: string): RootContent => ({ type: 'html', value })
  const plain = plainSummary(summary)
  if (plain !== null) return [html(`${open}\n<summary>${plain}</summary>`), ...flow, html('</details>')]
  const children = exportInline(summary?.content, summary ? inside(context, summary, 'nested') : context)
  const lines: RootContent[] = [{ type: 'paragraph', children }]
  return [html(`${open}\n<summary>`), ...lines, html('</summary>'), ...flow, html('</details>')]
}

type Recursion = {
  context: ExportContext
  exportFlow: (content: BodyNode[] | undefined, context: ExportContext, closes: boolean) => BlockContent[]
}

function plainSummary(summary: BodyNode | undefined): string | null {
  let html = ''
  for (const child of summary?.content ?? []) {
    if (child.marks !== undefined) return null
    if (child.type === 'text') html += escapeText(child.text ?? '')
    else if (child.type === 'hardBreak') html += '<br>'
    else if (child.type === 'htmlInline' && isPlainTag(String(child.attrs?.html))) html += child.attrs?.html
    else return null
  }
  const coded = (space: string) => `&#x${space.charCodeAt(0).toString(16).toUpperCase()};`
  return html.replace(/^\s|\s$/g, coded)
}

function isPlainTag(html: string): boolean {
  return /^<[^<>\n]*>$/.test(html) && !/^<\/?(summary|br|u|sub|sup|mark)\b/i.test(html) && isHtmlInline(html)
}

// Line ends, and white space beside them, would not survive as they are.
function escapeText(text: string): string {
  const entities: { [character: string]: string } = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '\n': '&#xA;',
    '\r': '&#xD;',
  }
  return text.replace(/[&<>\n\r]/g, (character) => entities[character] as string)
}
