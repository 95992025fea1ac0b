/** An intended difference to the reference renderer, as the functions that remove it on either side. */
export type Difference = { ours?: (html: string) => string; reference?: (html: string) => string }

const strip = (pattern: RegExp) => (html: string) => html.replace(pattern, '')
const unwrapParagraphs = (html: string) =>
  mapElements(html, ({ name, parent }) => (name === 'p' && /^(li|t[dh])$/.test(parent) ? null : name))

/**
 * Every kind of difference between our HTML and that of markdown-it, in the order of removal. `html-differences.md`
 * describes each kind and its reason, one row for each name.
 */
export const differences: { [name: string]: Difference } = {
  'block ids': { ours: strip(/ data-block-id="\w+"/g) },
  'foreign links': { ours: strip(/ rel="[a-z ]+"/g), reference: strip(/ rel="[a-z ]+"/g) },
  'apostrophes are escaped': { ours: (html) => html.replaceAll('&#39;', "'") },
  'void elements of raw HTML': {
    ours: (html) => html.replace(/ \/>/g, '>'),
    reference: (html) => html.replace(/ \/>/g, '>'),
  },
  'line ends': {
    ours: (html) => html.replace(/<br>\s*/g, '<br>\n'),
    reference: (html) => html.replace(/<br>\s*/g, '<br>\n').replace(/\n<\/code><\/pre>/g, '</code></pre>'),
  },
  frontmatter: { ours: strip(/<pre data-type="frontmatter" hidden>[^<]*<\/pre>/) },
  'an image alone': { reference: (html) => html.replace(/<p>(<img[^>]*>)<\/p>/g, '$1') },
  'task lists': {
    ours: (html) =>
      html
        .replaceAll('<ul data-type="taskList">', '<ul>')
        .replace(/<li data-type="taskItem" data-checked="true"><input[^>]*><p>/g, '<li><p>[x] ')
        .replace(/<li data-type="taskItem" data-checked="false"><input[^>]*><p>/g, '<li><p>[ ] '),
  },
  callouts: {
    ours: (html) =>
      mapElements(html, ({ name, attributes }) => (attributes.includes('data-callout=') ? 'blockquote' : name)),
    reference: (html) =>
      html.replace(/<p>\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](<\/p>|<br>|\n)/gi, (_, end) =>
        end === '</p>' ? '' : '<p>',
      ),
  },
  footnotes: {
    ours: (html) =>
      unwrap(html.replace(/(<div data-footnote="([^"]*)"><p>)/g, '$1[^$2]: '), /data-footnote=/).replace(
        /<sup data-footnote-reference="[^"]*">(\[)([^<]*)<\/sup>/g,
        '$1^$2',
      ),
    reference: (html) => html.replace(/(<p>|\n)(\[\^\w+\]:)\s/g, '</p>\n<p>$2 '),
  },
  details: { ours: withoutDetails, reference: withoutDetails },
  'addresses between character references': {
    reference: (html) => html.replace(/&lt;([\w.]+@[\w.]+)&gt;/g, '&lt;<a href="mailto:$1">$1</a>&gt;'),
  },
  'alignment of columns': {
    ours: (html) => html.replace(/<(t[dh])><p style="text-align:(\w+)">/g, '<$1 style="text-align:$2"><p>'),
  },
  'table head': { ours: strip(/<\/?tbody>/g), reference: strip(/<\/?(thead|tbody)>/g) },
  'paragraphs in items and cells': { ours: unwrapParagraphs, reference: unwrapParagraphs },
  'a line break alone': { reference: (html) => html.replace(/<div data-type="html"><br>\s*<\/div>/g, '<p><br>\n</p>') },
  'order of attributes': { ours: sortAttributes, reference: sortAttributes },
  'marks are a set': { ours: flattenMarks, reference: flattenMarks },
  'white space between blocks': { ours: tidy, reference: tidy },
}

/** The HTML of a side without the intended differences, except for the kinds that are left in. */
export function withoutDifferences(side: keyof Difference, html: string, left?: string): string {
  const entries = Object.entries(differences).filter(([name]) => name !== left)
  return entries.reduce((rest, [, difference]) => difference[side]?.(rest) ?? rest, html)
}

type Element = { name: string; attributes: string; parent: string }

// Renames elements; an element for which `rename` returns null loses its tags.
function mapElements(html: string, rename: (element: Element) => string | null): string {
  const open: { name: string; renamed: string | null }[] = []
  return html.replace(/<(\/?)(\w+)([^>]*)>/g, (tag, slash: string, name: string, attributes: string) => {
    if (/^(br|col|hr|img|input|wbr)$/.test(name)) return tag
    if (slash !== '') {
      const renamed = open.pop()?.renamed
      return renamed ? `</${renamed}>` : '\n'
    }
    const renamed = rename({ name, attributes, parent: open.at(-1)?.name ?? '' })
    open.push({ name, renamed })
    if (renamed === null) return '\n'
    return renamed === name ? tag : `<${renamed}>`
  })
}

function unwrap(html: string, attribute: RegExp): string {
  return mapElements(html, ({ name, attributes }) => (attribute.test(attributes) ? null : name))
}

function withoutDetails(html: string): string {
  return unwrap(html, /data-type="detailsContent"/)
    .replace(/<div data-type="html">(<details[^>]*>[\s\S]*?<\/details>)?\s*<\/div>/g, '$1')
    .replace(/<\/?(details|summary)[^>]*>/g, '\n')
}

function sortAttributes(html: string): string {
  return html.replace(/<(\w+)((?: [\w-]+="[^"]*")+)>/g, (_, name: string, attributes: string) => {
    const sorted = Array.from(attributes.matchAll(/ [\w-]+="[^"]*"/g), (match) => match[0]).sort()
    return `<${name}${sorted.join('')}>`
  })
}

// Each stretch of text with the sorted list of its marks, whatever their nesting.
function flattenMarks(html: string): string {
  const open: string[] = []
  let before = ''
  return html.replace(/<(\/?)(a|strong|em|s|code|u|sub|sup|mark)\b([^>]*)>|<[^>]*>|[^<]+/g, (token, slash, name) => {
    if (name !== undefined) {
      if (slash === '') open.push(token)
      else open.pop()
      return ''
    }
    const isCode = open.includes('<code>')
    const marks = [...new Set(open)]
      .filter((mark) => !isCode || /^<(a|code)\b/.test(mark))
      .sort()
      .join('')
    const isSame = marks === before
    before = marks
    return isSame ? token : `‹${marks.replaceAll('<', '[').replaceAll('>', ']')}›${token}`
  })
}

function tidy(html: string): string {
  const block = /\s*(<\/?(?:p|h[1-6]|blockquote|ul|ol|li|pre|hr|table|tr|td|th|div|details|summary)\b[^>]*>)\s*/g
  return html.replace(block, '\n$1\n').replace(/\n+/g, '\n').trim()
}
