import type { BodyNode } from './document.ts'

/**
 * A set of attributes that an element gets. An attribute is left out when it is null, undefined, false or empty; an
 * empty `alt` stays.
 */
export type Attributes = { [name: string]: string | number | boolean | null | undefined }

/** An element with escaped attributes around content that is HTML already. */
export function element(tag: string, own: Attributes, content: string): string {
  return `<${tag}${attributes(own)}>${content}</${tag}>`
}

/** The attributes as a tag contains them, each behind a space. */
export function attributes(own: Attributes): string {
  let html = ''
  for (const [name, value] of Object.entries(own)) {
    if (value === null || value === undefined || value === false || value === '') {
      if (name === 'alt') html += ' alt=""'
    } else html += value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`
  }
  return html
}

/** Escapes a text for HTML, also within the quotes of an attribute. */
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

/** The attribute of a node if the value is a string, else null. */
export function stringAttribute(node: BodyNode, name: string): string | null {
  const value = node.attrs?.[name]
  return typeof value === 'string' ? value : null
}

/** The attribute of a node if the value is a number, else null. */
export function numberAttribute(node: BodyNode, name: string): number | null {
  const value = node.attrs?.[name]
  return typeof value === 'number' ? value : null
}
