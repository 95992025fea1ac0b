/** A family of texts. The text for a size has about `size` UTF-16 units. */
export type Family = (size: number) => string

/** Repeats a unit until the text has the size. */
function repeated(unit: string): Family {
  return (size) => unit.repeat(Math.max(1, Math.round(size / unit.length)))
}

/** Nests a middle text in pairs of an opening and a closing text. */
function nested(open: string, middle: string, close: string): Family {
  return (size) => {
    const depth = Math.max(1, Math.round(size / (open.length + close.length)))
    return `${open.repeat(depth)}${middle}${close.repeat(depth)}`
  }
}

/** Repeats a unit that contains the number of its repetition, from 1 on. */
function numbered(unit: (index: number) => string): Family {
  return (size) => {
    const parts: string[] = []
    for (let length = 0, index = 1; length < size; index += 1) {
      const part = unit(index)
      parts.push(part)
      length += part.length
    }
    return parts.join('')
  }
}

/** Joins two texts of half the size, because some costs are the product of two counts. */
function halves(first: Family, second: Family, between = '\n\n'): Family {
  return (size) => `${first(size / 2)}${between}${second(size / 2)}`
}

const inWords = (index: number) => index.toString(36)

/** Texts that overload parsers of Markdown. */
export const markdownTexts: Readonly<Record<string, Family>> = {
  'ordered list markers': repeated('1) '),
  'bullet markers': repeated('- '),
  'alternating emphasis': repeated('*_'),
  'emphasis runs that never close': repeated('*a **b '),
  'emphasis runs that close': nested('*a', 'x', 'b*'),
  'strong in emphasis': nested('**a *b ', 'x', ' c* d**'),
  underscores: repeated('a_b_'),
  'strikethrough openings': repeated('~a'),
  'strikethrough runs': repeated('~~a~b '),
  'setext headings': repeated('a\n=\n'),
  'one heading under many lines': (size) => `${repeated('a\n')(size)}===\n`,
  headings: repeated('# a\n\n'),
  'headings of all levels': numbered((index) => `${'#'.repeat((index % 6) + 1)} ${inWords(index)}\n\n`),
  'a long heading, then many': halves(repeated('# a'), repeated('## b\n\n')),
  'opening brackets': repeated('['),
  'image openings': repeated('!['),
  'links that never close': repeated('[a]('),
  'nested brackets': nested('[', 'a', ']'),
  'bracket pairs': repeated('[]'),
  links: repeated('[a](b) '),
  'links of their own': numbered((index) => `[a${index}](/b${index}) `),
  'links with titles': repeated('[a](b "c") '),
  'links with open destinations': repeated('[a](<b'),
  'reference links to one definition': halves(repeated('[a][x] '), (size) => `[x]: ${repeated('b')(size)}`),
  'shortcut references without definitions': repeated('[a] '),
  'reference definitions': numbered((index) => `[a${index}]: b\n`),
  'the same definition': repeated('[a]: b\n'),
  'definitions and their uses': halves(
    numbered((index) => `[${inWords(index)}]: b\n`),
    numbered((index) => `[${inWords(index)}] `),
  ),
  'images with long texts': halves((size) => `![${repeated('a')(size)}](b)`, repeated('![c](d) ')),
  autolinks: repeated('<http://a.b> '),
  'bare addresses': repeated('http://a.b '),
  'bare addresses without a space': repeated('http://www.a@b.c'),
  'email addresses': repeated('a@b.c '),
  'at signs': repeated('a@'),
  'dots and letters': repeated('a.'),
  'www without an end': repeated('www.'),
  backticks: repeated('`'),
  'backtick runs of their own lengths': numbered((index) => `${'`'.repeat((index % 60) + 1)} `),
  'growing backtick runs': numbered((index) => `${'`'.repeat(index)}a`),
  'inline code': repeated('`a` '),
  dollars: repeated('$$a'),
  'dollar runs': numbered((index) => `${'$'.repeat((index % 60) + 1)} `),
  quotes: repeated('> '),
  'a quote of many lines': repeated('> a\n'),
  'lazy quotes': (size) => `> a\n${repeated('a\n')(size)}`,
  'quotes in lists': repeated('- > '),
  'a tight list': repeated('- a\n'),
  'a loose list': repeated('- a\n\n'),
  'a list that goes deeper': (size) => numbered((index) => `${' '.repeat(index % 30)}- a\n`)(size),
  tasks: repeated('- [ ] a\n'),
  'ordered items': repeated('1. a\n'),
  'lists that alternate': repeated('- a\n+ a\n'),
  'table rows': (size) => `|a|b|\n|-|-|\n${repeated('|1|2|\n')(size)}`,
  'table columns': (size) => `${repeated('|a')(size / 2)}|\n${repeated('|-')(size / 2)}|\n`,
  'table of short rows': (size) =>
    `${repeated('|a')(size / 3)}|\n${repeated('|-')(size / 3)}|\n${repeated('|\n')(size / 3)}`,
  'delimiter rows': repeated('|-\n'),
  pipes: repeated('|'),
  'escaped pipes': (size) => `|a|\n|-|\n|${repeated('\\|')(size)}|\n`,
  footnotes: numbered((index) => `[^${index}] `),
  'footnotes and their definitions': halves(
    numbered((index) => `[^${index}] `),
    numbered((index) => `[^${index}]: a\n\n`),
  ),
  'one footnote': halves(repeated('[^a] '), () => '[^a]: b'),
  'thematic breaks': repeated('---\n'),
  'stars for a break': repeated('* '),
  'fenced code': repeated('```\na\n```\n'),
  'an open fence': (size) => `\`\`\`\n${repeated('a\n')(size)}`,
  'fences of growing length': numbered((index) => `${'`'.repeat((index % 100) + 3)}\n`),
  'indented code': repeated('    a\n\n'),
  'empty lines': repeated('\n'),
  'empty paragraphs': repeated('a\n\n'),
  'anchors of blocks': numbered((index) => `<!-- block=block_${String(index).padStart(26, '0')} -->\na\n\n`),
  'anchors without blocks': numbered((index) => `<!-- block=block_${String(index).padStart(26, '0')} -->\n\n`),
  'the same anchor': repeated('<!-- block=a -->\n\n'),
  frontmatter: (size) => `---\n${repeated('a: b\n')(size)}---\n`,
  'frontmatter that stays open': (size) => `---\n${repeated('a: b\n')(size)}`,
  'hard breaks': repeated('a  \n'),
  backslashes: repeated('\\'),
  'escaped signs': repeated('\\*'),
  'emphasis over lines': repeated('*a\n'),
  details: repeated('<details>\n<summary>a</summary>\n\n'),
  'details with ends': nested('<details>\n<summary>a</summary>\n\n', 'b\n\n', '</details>\n\n'),
  callouts: repeated('> [!NOTE]\n> a\n\n'),
}

/** Texts that overload parsers and sanitisers of HTML. */
export const htmlTexts: Readonly<Record<string, Family>> = {
  'less-than signs': repeated('<'),
  'less-than and stars': repeated('<*_'),
  'processing instructions': repeated('<<?<?'),
  comments: repeated('<<!--<!--'),
  'closed comments': repeated('<!---->'),
  'comment dashes': (size) => `<!--${repeated('-')(size)}`,
  declarations: repeated('<!A'),
  CDATA: repeated('<![CDATA['),
  'CDATA with ends': repeated('<![CDATA[a]]>'),
  'nested div': repeated('<div>'),
  'closed div': nested('<div>', 'a', '</div>'),
  'div pairs': repeated('<div></div>'),
  'div on lines': repeated('<div>\n'),
  'closings only': repeated('</div>'),
  'closings of another tag': halves(repeated('<p>'), repeated('</b>'), ''),
  'inline tags': repeated('<u>a</u>'),
  'inline tags that stay open': repeated('<u>a'),
  'mark tags': nested('<mark>', 'a', '</mark>'),
  'sub and sup': nested('<sub><sup>', 'a', '</sup></sub>'),
  'script that stays open': repeated('<script>'),
  'script and style': repeated('<script>a</style>'),
  'textarea and title': repeated('<textarea><title>'),
  'table elements': repeated('<table><tr><td>'),
  'foreign elements': repeated('<svg><math>'),
  'a tag of many attributes': (size) => `<p ${numbered((index) => `a${index}=b `)(size)}>`,
  'a tag of one attribute': (size) => `<p ${repeated('a=b ')(size)}>`,
  'an attribute that stays open': (size) => `<p a="${repeated('b')(size)}`,
  'tags with open attributes': repeated('<a b="'),
  'a style of many declarations': (size) => `<span style="${repeated('color:red;')(size)}">`,
  'spaces in a tag': (size) => `<p${repeated(' ')(size)}`,
  'slashes in a tag': (size) => `<p${repeated('/')(size)}>`,
  'srcset and addresses': (size) => `<img src="${repeated('a,')(size)}" srcset="${repeated('b 1x,')(size)}">`,
  entities: repeated('&amp;'),
  ampersands: repeated('&'),
  'entities without an end': repeated('&am'),
  'numeric entities': repeated('&#1114111;'),
  'long numeric entities': (size) => `&#${repeated('0')(size)}`,
  'line breaks': repeated('<br>'),
  'a letter and a tag': repeated('a<b>'),
  'quote signs in tags': repeated('<a "\'>'),
}

/** Texts that overload regular expressions, normalisation, folding, stemming and the splitting into words. */
export const wordTexts: Readonly<Record<string, Family>> = {
  'line feeds': repeated('\n'),
  'carriage returns': repeated('\r'),
  'CR LF': repeated('\r\n'),
  'spaces before a letter': (size) => `${repeated(' ')(size)}a`,
  'spaces after a letter': (size) => `a${repeated(' ')(size)}`,
  'spaces amid letters': (size) => `a${repeated(' ')(size)}a`,
  tabs: (size) => `a${repeated('\t')(size)}a`,
  'tabs and line feeds': repeated(' \t\n'),
  'no-break spaces': (size) => `a${repeated('\u00a0')(size)}a`,
  'line separators': repeated('a\u2028'),
  'one word': repeated('a'),
  'one word of capitals': repeated('A'),
  'camel case': repeated('aB'),
  'capitals and small letters': repeated('ABc'),
  'snake case': repeated('a_'),
  'kebab case': repeated('a-'),
  'words of their own': numbered((index) => `${inWords(index)} `),
  'the same word': repeated('word '),
  'stop words': repeated('the '),
  'long endings': repeated('ational'),
  'endings of words': repeated('ationally '),
  'German endings': repeated('keiten'),
  'Russian endings': repeated('ейшими'),
  paths: repeated('a/'),
  'paths of files': repeated('src/a.ts '),
  backslashed: repeated('a\\'),
  'glued words': repeated('a.b-c:d@e'),
  'glue alone': repeated('._-/'),
  'plus signs after a letter': (size) => `a${repeated('+')(size)}`,
  digits: repeated('0123456789'),
  'digits and letters': repeated('1a'),
  'digits and dots': repeated('1.'),
  'combining marks': (size) => `a${repeated('\u0301')(size)}`,
  'combining marks of two classes': (size) => `a${repeated('\u0301\u0323')(size)}`,
  'a mark on each letter': repeated('a\u0301'),
  'marks without a letter': repeated('\u0301'),
  'composed letters': repeated('é'),
  'letters that expand': repeated('ﷺ'),
  'letters that expand in lower case': repeated('İ'),
  ligatures: repeated('ﬃ'),
  'Hangul jamo': repeated('\u1100\u1161\u11a8'),
  'leading jamo': repeated('\u1100'),
  'trailing jamo': (size) => `\u1100${repeated('\u11a8')(size)}`,
  Hangul: repeated('한국어'),
  Chinese: repeated('知識'),
  Japanese: repeated('カタカナ'),
  'half-width kana': repeated('ｶﾞ'),
  'voiced marks': (size) => `ｶ${repeated('ﾞ')(size)}`,
  Thai: repeated('ภาษา'),
  'Thai marks': (size) => `ก${repeated('\u0e49')(size)}`,
  Arabic: repeated('السلام '),
  tatweel: (size) => `ا${repeated('\u0640')(size)}`,
  'Hebrew points': repeated('א\u05b0'),
  Devanagari: repeated('क्ष'),
  'Greek sigma': repeated('Σ'),
  'Cyrillic breve': repeated('и\u0306'),
  emoji: repeated('👍'),
  'emoji joined': repeated('👩\u200d'),
  'emoji with modifiers': repeated('👍🏽'),
  flags: repeated('🇩🇪'),
  'soft hyphens': (size) => `a${repeated('\u00ad')(size)}b`,
  'zero-width spaces': repeated('\u200b'),
  joiners: (size) => `a${repeated('\u200d')(size)}`,
  'variation selectors': (size) => `a${repeated('\ufe0f')(size)}`,
  'marks of direction': repeated('\u202e'),
  'surrogate pairs': repeated('𝒳'),
  'double quotes': repeated('"'),
  'quoted words': repeated('"a" '),
  'quoted words of their own': numbered((index) => `"${inWords(index)} b" `),
  'single quotes': repeated("a'"),
  commas: repeated(','),
  'commas and spaces': repeated(' ,'),
  semicolons: repeated('a;'),
  'semicolons and spaces': repeated('; '),
  'equals signs': repeated('a='),
  colons: repeated(':'),
  'question marks': repeated('?'),
  'percent signs': repeated('%'),
  'percent encodings': repeated('%20'),
  'encoded slashes': repeated('%2f..'),
  parentheses: nested('(', 'a', ')'),
  'opening parentheses': repeated('('),
  braces: nested('{"a":', '1', '}'),
  'deep arrays': nested('[', '1', ']'),
  'wide arrays': (size) => `[${repeated('1,')(size)}1]`,
  'wrong elements': (size) => `[${repeated('{"a":1},')(size)}1]`,
  'wide objects': (size) => `{${numbered((index) => `"a${index}":1,`)(size)}"a":1}`,
  'nested objects in arrays': (size) => `[${repeated('{"a":[]},')(size)}{}]`,
  'entity tags': repeated('"a", '),
  'weak entity tags': repeated('W/"a",'),
  'media types': repeated('text/html;q=0.1, '),
  'language tags': (size) => `en${repeated('-aaa')(size)}`,
  'private language tags': (size) => `x${repeated('-a')(size)}`,
  'products of a user agent': repeated('Mozilla/5.0 (a; b) '),
  'base64 url': repeated('eyJh'),
  addresses: repeated('svc://doc/doc_a '),
  'a scheme of plus signs': (size) => `a${repeated('+')(size)}:`,
  dashes: repeated('-'),
  'alternating case': repeated('aAbB'),
  'control characters': repeated('\u0001'),
  'invisible then space': repeated('\u200b '),
}

/** The families with which users could once stop the service. Every run measures them. */
export const reproduced: ReadonlySet<string> = new Set([
  ...['ordered list markers', 'alternating emphasis', 'setext headings', 'strikethrough openings'],
  ...['less-than and stars', 'processing instructions', 'comments', 'line feeds', 'nested div'],
  ...['reference links to one definition', 'combining marks of two classes'],
])

/** The characters of random texts. Each of them means something to one of the readers. */
export const tokens: readonly string[] = [
  ...['a', 'B', '1', ' ', '\n', '\t', '\r\n', '*', '_', '~', '~~', '`', '$$', '[', ']', '](', '![', '[^', ')', '('],
  ...['<', '>', '</', '<!--', '-->', '<?', '<!', '<![CDATA[', '<div>', '</div>', '<b>', '<br>', '<details>', '/>'],
  ...['&', '&amp;', '#', '# ', '- ', '+', '1. ', '1) ', '> ', '=', '\n=\n', '---\n', '|', '|-', '\\', '"', "'", ':'],
  ...['.', ',', ';', '/', '@', 'http://', 'www.', '%20', '{', '}', '-', '\u0301', '\u0323', '\u1100', '\u11a8', 'é'],
  ...['知', '👍', '\u200d', '\u00ad', '\u200b', '\u00a0', '\u2028', 'ß', 'İ', 'the ', 'W/"a"', ';q=0'],
]
