import sanitize from 'sanitize-html'
import { isAllowedHref, isAllowedSrc } from './addresses.ts'

/** What every link of a rendered body carries. */
export const linkRel = 'noopener noreferrer nofollow'

const safeColor = /^(?:#[0-9a-f]{3,8}|[a-z]{1,30}|(?:rgb|hsl)a?\([0-9.,%\s/]{1,40}\))$/i

/** True for a colour that cannot be anything but a colour. */
export function isSafeColor(color: string): boolean {
  return safeColor.test(color)
}

/**
 * Raw HTML reduced to harmless tags and attributes, elements closed: no scripts, styles, handlers, forms, frames, ids
 * or classes, addresses only of the allowed schemes. Also lets through what `html.ts` itself writes into a textblock.
 */
export function sanitizeHtml(html: string): string {
  return sanitize(html, options)
}

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
    code: ['data-math'],
    details: ['open'],
    img: ['src', 'alt', 'width', 'height'],
    mark: ['style'],
    ol: ['start', 'reversed', 'type'],
    span: ['style', 'data-mention'],
    sup: ['data-footnote-reference'],
    td: cell,
    th: cell,
    time: ['datetime'],
  },
  allowedStyles: { mark: { 'background-color': [safeColor] }, span: { color: [safeColor] } },
  allowedSchemes: ['http', 'https', 'mailto', 'tel', 'svc'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  transformTags: {
    a: (tagName, { href, target, ...rest }) => {
      const attribs: sanitize.Attributes = { ...rest, rel: linkRel }
      if (href !== undefined && isAllowedHref(href)) attribs.href = href
      if (target === '_blank') attribs.target = target
      return { tagName, attribs }
    },
    img: (tagName, { src, ...rest }) => ({
      tagName,
      attribs: src !== undefined && isAllowedSrc(src) ? { ...rest, src } : rest,
    }),
  },
}
