import type { BodyNode } from './document.ts'

/** Attributes of an element. Those that are null, undefined, false or empty are left out, except an empty `alt`. */
export type Attributes = { [name: string]: string | number | boolean | null | undefined }

/** An element of a tag with its attributes, escaped, around content that is HTML already. */
export function element(tag: string, own: Attributes, content: string): string {
  return `<${tag}${attributes(own)}>${content}</${tag}>`
}

/** Attributes as they stand in a tag, with a space before each. */
export function attributes(own: Attributes): string {
  let html = ''
  for (const [name, value] of Object.entries(own)) {
    if (value === null || value === undefined || value === false || value === '') {
      if (name === 'alt') html += ' alt=""'
    } else html += value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`
  }
  return html
}

/** A text as HTML that shows it, also within the quotes of an attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] as string)
}

const entities: { [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** An attribute of a node that is a string, else null. */
export function stringAttribute(node: BodyNode, name: string): string | null {
  const value = node.attrs?.[name]
  return typeof value === 'string' ? value : null
}

/** An attribute of a node that is a number, else null. */
export function numberAttribute(node: BodyNode, name: string): number | null {
  const value = node.attrs?.[name]
  return typeof value === 'number' ? value : null
}
