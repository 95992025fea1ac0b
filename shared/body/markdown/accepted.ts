/**
 * A sample of Markdown: the text as it is read, the nodes and marks that hold it, and the text as it is written. The
 * nodes of texts are not listed.
 */
export type Sample = { read: string; becomes: readonly string[]; written: string }

/** One sample for each construct that is read as more than text. A test reads and writes each sample. @internal */
export const accepted: readonly Sample[] = [
  same('# Title', 'heading'),
  { read: 'Title\n===', becomes: ['heading'], written: '# Title' },
  same('**bold**', 'paragraph', 'bold'),
  { read: '_italic_', becomes: ['paragraph', 'italic'], written: '*italic*' },
  same('~~struck~~', 'paragraph', 'strike'),
  { read: 'H~2~O', becomes: ['paragraph', 'strike'], written: 'H~~2~~O' },
  same('`code`', 'paragraph', 'code'),
  same('**a `code` b**', 'paragraph', 'bold', 'code'),
  { read: '==marked==', becomes: ['paragraph', 'highlight'], written: '<mark>marked</mark>' },
  same('<u>a</u> <sub>b</sub> <sup>c</sup>', 'paragraph', 'underline', 'subscript', 'superscript'),
  { read: '[a](/b "c")', becomes: ['paragraph', 'link'], written: '[a](/b "c")' },
  { read: '[a][r]\n\n[r]: /b', becomes: ['paragraph', 'link'], written: '[a](/b)' },
  { read: 'www.example.org', becomes: ['paragraph', 'link'], written: '[www.example.org](http://www.example.org)' },
  same('![alt](/i.png)', 'image'),
  same('a ![alt](/i.png)', 'paragraph', 'inlineImage'),
  { read: '$x^2$', becomes: ['paragraph', 'inlineMath'], written: '$$x^2$$' },
  same('a $$x^2$$', 'paragraph', 'inlineMath'),
  same('$$\nx^2\n$$', 'blockMath'),
  { read: '* a\n* b', becomes: ['bulletList', 'listItem', 'paragraph'], written: '- a\n- b' },
  { read: '3) a\n3) b', becomes: ['orderedList', 'listItem', 'paragraph'], written: '3. a\n4. b' },
  same('- [x] a', 'taskList', 'taskItem', 'paragraph'),
  same('> a', 'blockquote', 'paragraph'),
  { read: '> [!note]\n> a', becomes: ['callout', 'paragraph'], written: '> [!NOTE]\n> a' },
  { read: '~~~js\na\n~~~', becomes: ['codeBlock'], written: '```js\na\n```' },
  { read: '***', becomes: ['horizontalRule'], written: '___' },
  { read: 'a|b\n-|:-:\nc|d', becomes: tableTypes(), written: '| a | b |\n| - | :-: |\n| c | d |' },
  same('a[^1]\n\n[^1]: b', 'paragraph', 'footnoteReference', 'footnoteDefinition'),
  same('---\na: 1\n---', 'frontmatter'),
  { read: 'a<br/>b', becomes: ['paragraph', 'hardBreak'], written: 'a\\\nb' },
  same('a <br> b', 'paragraph', 'hardBreak'),
  {
    read: '<details><summary>a</summary>\n\nb\n\n</details>',
    becomes: ['details', 'detailsSummary', 'detailsContent', 'paragraph'],
    written: '<details>\n<summary>a</summary>\n\nb\n\n</details>',
  },
  same('a <kbd>b</kbd>', 'paragraph', 'htmlInline'),
  same('<div>\na\n</div>', 'htmlBlock'),
  same('<!-- a -->', 'htmlBlock'),
]

/** Samples that look like markup and stay text. A test reads and writes each sample. @internal */
export const literal: readonly Sample[] = [
  '$5 and $6',
  '$ x $',
  'a == b',
  'a ===b==',
  'x^2^',
  ':emoji:',
  '++a++',
  '{.class}',
  '@name and #tag',
  '[[toc]]',
  '$HOME/bin:$PATH',
]
  .map((read) => same(read, 'paragraph'))
  .concat([
    { read: '\\$x\\$', becomes: ['paragraph'], written: '\\$x$' },
    { read: '\\==a==', becomes: ['paragraph'], written: '\\==a==' },
  ])

/**
 * The chapter on Markdown of the API reference (`/api-docs.md`), itself written in Markdown: the samples as tables and
 * the limits in prose.
 */
export function describeMarkdown(): string {
  return [introduction, tableOf(accepted), staysText, tableOf(literal), limits].join('\n\n')
}

function same(text: string, ...becomes: string[]): Sample {
  return { read: text, becomes, written: text }
}

function tableTypes(): string[] {
  return ['table', 'tableRow', 'tableHeader', 'tableCell', 'paragraph']
}

function tableOf(samples: readonly Sample[]): string {
  const rows = samples.map(({ read, becomes, written }) => {
    return `| ${code(read)} | ${becomes.map((name) => `\`${name}\``).join(', ')} | ${code(written)} |`
  })
  return ['| Read | Becomes | Written back |', '|---|---|---|', ...rows].join('\n')
}

// A table shows a line end within a sample as a sign and escapes each bar.
function code(text: string): string {
  const line = text.replaceAll('\n', '⏎').replaceAll('|', '\\|')
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``
}

const introduction = `Markdown is CommonMark with the additions of GitHub: tables, task lists, strikethrough, bare addresses,
footnotes and callouts, besides math and YAML frontmatter. What is written is read back as the same body. Each
sample shows a line end as \`⏎\`.`

const staysText = `These look like markup and stay text. Inline math between single dollars has no white space just inside
them, no letter, digit or dollar right outside them, and stands on one line. Links, images and code come first. A
highlight needs a word right behind the first \`==\` and right before the second one. A text is escaped when it is
written only where it would be read otherwise.`

const limits = `**Raw HTML** is kept as it is and never executed; pages and the HTML format show it sanitised. \`<u>\`, \`<sub>\`,
\`<sup>\` and \`<mark>\` without attributes are marks when they come in pairs, \`<br>\` is a break, and \`<details>\` with a
\`<summary>\` is a node.

**Anchors** are comments like \`<!-- block=block_… -->\` above a block at the top level; they keep its id. Within code they
are content; within a list or a quote they are content with the warning \`misplaced_anchor\`.

**Warnings** name what Markdown cannot say: colours and alignment (\`marks_dropped\`, \`attrs_dropped\`), merged cells and
cells of several blocks (\`table_flattened\`), mentions (\`node_simplified\`), empty paragraphs (\`block_dropped\`). Blank
lines between the items of a list, the sort of bullet and the order of marks on the same text are not kept.`
