import { createRequire } from 'node:module'
import type sanitize from 'sanitize-html'
import { isAllowedHref, isAllowedSrc } from './addresses.ts'
import { htmlText } from './text.ts'

const require = createRequire(import.meta.url)

/** The `rel` of every link in a rendered body. */
export const linkRel = 'noopener noreferrer nofollow'

const safeColor = /^(?:#[0-9a-f]{3,8}|[a-z]{1,30}|(?:rgb|hsl)a?\([0-9.,%\s/]{1,40}\))$/i

/** True for a text that can only be a colour. */
export function isSafeColor(color: string): boolean {
  return safeColor.test(color)
}

/**
 * Reduces raw HTML to harmless tags and attributes and closes all elements. Scripts, styles, handlers, forms, frames,
 * ids and classes are removed, and so are addresses whose scheme is not allowed. HTML with more than 512 levels loses
 * its tags and keeps its text. The time is linear in the length.
 */
export function sanitizeHtml(html: string): string {
  return sanitized(html, options)
}

/**
 * Sanitises HTML except for its leaves, which are elements that are already safe. `write` returns the HTML and passes
 * each leaf to `keep`, which returns a stand-in. In the result the leaves are untouched. Raw HTML that imitates the
 * stand-in of a leaf cannot show the leaf a second time.
 */
export function sanitizeWithLeaves(write: (keep: (leaf: string) => string) => string): string {
  const leaves: string[] = []
  const html = sanitized(
    write((leaf) => `<x-leaf n="${leaves.push(leaf) - 1}"></x-leaf>`),
    optionsWithLeaves,
  )
  // Sanitised text and attributes hold no `<`, so only stand-ins match this pattern.
  const shown = new Set<string>()
  return html.replace(/<x-leaf n="(\d+)">|<\/?x-leaf[^>]*>/g, (_, index?: string) => {
    if (index === undefined || shown.has(index)) return ''
    shown.add(index)
    return leaves[Number(index)] ?? ''
  })
}

function sanitized(html: string, options: sanitize.IOptions): string {
  let depth = 0
  const onOpenTag = () => {
    depth += 1
    if (depth > deepest) throw new TooDeep()
  }
  const onCloseTag = () => {
    depth -= 1
  }
  try {
    // The library is loaded when the first HTML is sanitised, and not at the start of a process.
    const sanitizer: typeof sanitize = require('sanitize-html')
    return sanitizer(html, { ...options, onOpenTag, onCloseTag })
  } catch (error) {
    if (error instanceof TooDeep) return htmlText(html).replace(/[<>]/g, (bracket) => brackets[bracket] as string)
    throw error
  }
}

// The most open elements. The parser searches all open elements at many tags. Without this limit the time of the parser
// would grow with the square of the depth. Browsers nest no deeper either.
const deepest = 512

class TooDeep extends Error {}

const brackets: { [bracket: string]: string } = { '<': '&lt;', '>': '&gt;' }

const cell = ['colspan', 'rowspan', 'align']

const options: sanitize.IOptions = {
  allowedTags: [
    ...[
      'a',
      'abbr',
      'b',
      'bdi',
      'bdo',
      'br',
      'cite',
      'code',
      'del',
      'dfn',
      'em',
      'i',
      'img',
      'ins',
      'kbd',
      'mark',
      'q',
    ],
    ...['s', 'samp', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var', 'wbr', 'ruby', 'rp', 'rt'],
    ...[
      'address',
      'article',
      'aside',
      'blockquote',
      'dd',
      'details',
      'div',
      'dl',
      'dt',
      'figcaption',
      'figure',
      'footer',
    ],
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hr', 'li', 'main', 'ol', 'p', 'pre', 'section', 'summary', 'ul'],
    ...['caption', 'col', 'colgroup', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr'],
  ],
  allowedAttributes: {
    '*': ['align', 'dir', 'lang', 'title'],
    a: ['href', 'rel', 'target'],
    details: ['open'],
    img: ['src', 'alt', 'width', 'height'],
    mark: ['style'],
    ol: ['start', 'reversed', 'type'],
    span: ['style'],
    td: cell,
    th: cell,
    time: ['datetime'],
  },
  // The library does not look into styles, since its parser of styles is slow when a style is broken. `transformTags`
  // below keeps the styles that are allowed and removes all others.
  parseStyleAttributes: false,
  allowedSchemes: ['http', 'https', 'mailto', 'tel', 'svc'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  transformTags: {
    a: (tagName, { href, rel: _not, target, ...rest }) => {
      if (href === undefined || !isAllowedHref(href)) return { tagName, attribs: rest }
      return { tagName, attribs: { ...rest, href, rel: linkRel, ...(target === '_blank' && { target }) } }
    },
    mark: onlyColor('background-color'),
    span: onlyColor('color'),
    img: (tagName, { src, ...rest }) => ({
      tagName,
      attribs: src !== undefined && isAllowedSrc(src) ? { ...rest, src } : rest,
    }),
  },
}

const optionsWithLeaves: sanitize.IOptions = {
  ...options,
  allowedTags: [...(options.allowedTags || []), 'x-leaf'],
  allowedAttributes: { ...options.allowedAttributes, 'x-leaf': ['n'] },
}

// Reduces the style of a tag to the last safe value of one property.
function onlyColor(property: string): sanitize.Transformer {
  return (tagName, { style, ...rest }) => {
    const declarations = style?.split(';').map((declaration) => declaration.split(':').map((part) => part.trim())) ?? []
    const colors = declarations.flatMap(([name, value]) =>
      name?.toLowerCase() === property && value !== undefined ? [value] : [],
    )
    const color = colors.findLast(isSafeColor)
    return { tagName, attribs: color === undefined ? rest : { ...rest, style: `${property}:${color}` } }
  }
}
