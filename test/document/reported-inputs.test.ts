import type { BodyNode, Mark } from '../../shared/body/document.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { t } from '../support/tap.ts'
import { doc, h, node, p, text, withoutIds } from './build.ts'

// Markdown that comes back as it is, without a warning.
const kept = [
  'See <https://graph.example.org/users?$filter=name&$top=5> here.',
  '<https://ex.org/==a==>',
  '# <https://ex.org/a_b_*c*>',
  '- <mailto:a$b@ex.org> and [a](mailto:a)',
  '| a | b |\n| - | - |\n| <img src="x.png" width="20"> | one |',
  '# <img src="logo.svg">',
  '## <center>Title</center>',
  '- [ ] <img src="a.png">',
  '- [x] <center>a</center>',
  '> [!NOTE]\n> <img src="a.png"> b',
  'PATH is $HOME/bin:$PATH here',
  'the [$http service](https://ex.org/$http)',
  '[a$b](c$d) e',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a shell
  '${a}/${b}',
  '"$@" "$*"',
  '$(pwd)/$(date)',
  'US$5–CA$',
  'a `$b` c$ d',
  'See [[Tiger]] and ![[paw.png|100]].',
  '> [!abstract] Summary',
  '> [!todo]- Fold\n> text',
  '- [[Tiger]] and [a] [b]',
  '# An [optional] part',
  '| [x] | a [b] |\n| - | - |\n| [[c]] | `d` |',
  '[a [b] c](/d)',
  '[wiki](https://en.wikipedia.org/wiki/A_(b))',
  '[q](https://ex.org/?a=1&b=2)',
  'view.tsx and flow.js, user@host',
  'snake_case, 2 * 3 * 4, a ~ b, R&D, #tag',
  '--flag, <3, C:\\path, http: and Great![^1]\n\n[^1]: note',
  'foo***bar***buz',
  '1. [ ] a\n2. [x] b\n3. [X] c',
  '$$ 5\\$ $$',
  'これは**重要（とても）**です。',
  '문서를 작성할 때 **마크다운(Markdown)**을 사용하세요.',
  '**现在就做。**然后继续。',
  'これは~~重要（とても）~~です。*「例」*を',
  'ใช้**คำ(สำคัญ)**นี้ and **a!**👍',
]

t.test('Markdown that needs no escape comes back as its author wrote it', async (t) => {
  for (const markdown of kept) {
    const { result, warnings } = fromMarkdown(markdown)
    const written = toMarkdown(result, { anchors: false })
    t.equal(written.markdown, `${markdown}\n`)
    t.strictSame([...warnings, ...written.warnings], [], markdown)
    const anchored = toMarkdown(result, { anchors: true }).markdown
    t.equal(withoutIds(fromMarkdown(anchored).result), withoutIds(result), markdown)
  }
})

// Markdown, and how it is written.
const respelled: [string, string][] = [
  ['See https://graph.example.org/users?$filter=name&$top=5 here.', kept[0] as string],
  ['$x$ ($y$) $a$, $b$.', '$$x$$ ($$y$$) $$a$$, $$b$$.'],
  ['**$x$** and $n$-th', '**$$x$$** and $$n$$-th'],
  ['$5\\$$', '$$ 5\\$ $$'],
  ['- [ ]  todo', '- [ ] todo'],
  ['- [x]\ttodo', '- [x] todo'],
  ['- [ ]   **a**', '- [ ] **a**'],
  ['- [ ]\n  todo', '- [ ] todo'],
  ['| a |\n| - |\n| b | |', '| a |\n| - |\n| b |'],
  ['| a |\n| - |\n| b | c | |', '| a | |\n| - | - |\n| b | c |'],
  ['a\0b', 'a\ufffdb'],
  ['# a\0', '# a\ufffd'],
]

t.test('another spelling is written in the usual one', async (t) => {
  for (const [read, written] of respelled) {
    const { result } = fromMarkdown(read)
    t.equal(toMarkdown(result, { anchors: false }).markdown, `${written}\n`, read)
    t.equal(withoutIds(fromMarkdown(written).result), withoutIds(result), read)
  }
})

const link = (value: string): BodyNode => text(value, { type: 'link', attrs: { href: value } } as Mark)
const math = (latex: string) => node('inlineMath', { latex })
const item = (...blocks: BodyNode[]) => node('bulletList', {}, node('listItem', {}, ...blocks))

// Bodies of programs, and how they are written.
const bodies: [BodyNode, string][] = [
  [p('go to www.<domain>.com'), 'go to www\\.\\<domain>.com'],
  [p('www.*.org'), 'www\\.*.org'],
  [p('www.[id].org'), 'www\\.[id].org'],
  [h(1, 'www. x'), '# www\\. x'],
  [item(p('see www.*x*')), '- see www\\.\\*x\\*'],
  [p('(WWW.a'), '(WWW\\.a'],
  [p('http://a and a@b.co'), 'http\\://a and a\\@b.co'],
  [p(link('https://ex.org/==a==')), '<https://ex.org/==a==>'],
  [p('[a](b) [c] (d)'), '\\[a](b) [c] (d)'],
  [p('[[a](b)'), '[\\[a\\](b)'],
  [p('[a]: b'), '\\[a]: b'],
  [item(p('[x] done')), '- \\[x] done'],
  [node('blockquote', {}, p('[!NOTE]')), '> \\[!NOTE]'],
  [item(p(node('hardBreak')), item(p('x'))), '- <br>\n\n  - x'],
  [p('a', text('\v', 'bold'), 'b'), 'a**\v**b'],
  [p('a', text('(b)', 'bold'), '\u0001'), '&#x61;**(b)**\u0001'],
  [p(math('a'), math('b')), '$$a$$<!-- -->$$b$$'],
  [p(text('x', 'bold'), ' *y', text('z', 'bold')), '**x** \\*y**z**'],
]

t.test('what a program wrote is read back as it was, with the signs escaped that would be markup', async (t) => {
  for (const [block, written] of bodies) {
    const document = doc(block)
    const { markdown, warnings } = toMarkdown(document, { anchors: false })
    t.equal(markdown, `${written}\n`)
    t.strictSame(warnings, [], written)
    t.equal(withoutIds(fromMarkdown(markdown).result), withoutIds(document), written)
  }
})
