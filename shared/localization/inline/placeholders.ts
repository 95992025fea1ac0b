import type { BodyNode } from '../../body/document.ts'

const name = String.raw`[\p{L}\p{N}_][\p{L}\p{N}_.$@[\]-]{0,80}`
const format = String.raw`[:!|][^{}]*|,\s*(?:number|date|time|spellout|ordinal|duration)\b[^{}]*`
const conversion = String.raw`(?:hh?|ll?|[qLzt])?[@sdiufFeEgGxXocpaA](?!\p{Ll}{2})`

// The usual placeholders. A percent sign behind a digit is a percentage. A single brace holds a placeholder only when
// it encloses nothing or a name or number, possibly with a format: `{name}`, `{0:N2}`, `{price, number, currency}`.
const placeholder = new RegExp(
  [
    String.raw`\{\{[^{}]*\}\}|\{%.*?%\}|<%.*?%>|\$\{[^{}]*\}`,
    String.raw`[#%@]?\{\s*(?:${name})?\s*(?:${format})?\}`,
    String.raw`(?<!\p{N})%(?:\(\w+\)[-+#0]*\d*(?:\.\d+)?[a-zA-Z]|\w+%|%)`,
    String.raw`(?<!\p{N})%(?:\d+\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?${conversion}`,
    String.raw`(?<![\p{L}\p{N}:/]):[A-Za-z_]\w*|(?<![\p{L}\p{N}$])\$[A-Za-z_]\w*`,
  ].join('|'),
  'gu',
)
// Placeholders that take the next argument.
const sequential = /^(?:%[^(%$]*[a-zA-Z@]|\{(?:[:!][^{}]*)?\})$/u

/**
 * Returns a key for the placeholders in the text of inline content. A translation may order them differently, except
 * for those that take the next argument, such as `%s`. Code is ignored, because it has to stay the same anyway.
 */
export function placeholdersOf(content: readonly BodyNode[]): string {
  const isText = ({ type, marks = [] }: BodyNode) => type === 'text' && !marks.some((mark) => mark.type === 'code')
  const { choices, rest } = choicesIn(content.map((node) => (isText(node) ? node.text : ' ')).join(''))
  const found = Array.from(rest.matchAll(placeholder), ([text]) => text.replace(/\s+/gu, ''))
  let next = 0
  const keys = found.map((text) => (sequential.test(text) ? `${next++} ${text}` : text))
  return [...choices, ...keys].sort().join('\n')
}

// Finds arguments of ICU whose forms are translated, such as `{count, plural, one {# day} other {# days}}`. `choices`
// are their names and the selectors of their forms. Languages differ in the selectors of plurals, so only `other`
// counts. `rest` is the text without the braces of choices and forms.
function choicesIn(text: string): { choices: string[]; rest: string } {
  const names: string[] = []
  const selectors = new Set<string>()
  const open: ('choice' | 'form' | 'other')[] = []
  const rest = text.replace(brace, (sign, argument?: string, kind?: string, selector = '') => {
    if (sign === '}') return (open.pop() ?? 'other') === 'other' ? sign : ' '
    if (kind !== undefined) {
      open.push('choice')
      names.push(`${argument} ${kind}`)
      return ' '
    }
    const isForm = open.at(-1) === 'choice'
    open.push(isForm ? 'form' : 'other')
    if (isForm && !/^(?:=\d+|zero|one|two|few|many)$/.test(selector.trim())) selectors.add(selector.trim())
    return isForm ? ' ' : sign
  })
  return { choices: [...names, ...selectors], rest }
}

const brace = new RegExp(
  String.raw`\{\s*(${name})\s*,\s*(plural|select|selectordinal)\s*,|([^\s{},]{1,40}\s{0,8})?\{|\}`,
  'gu',
)
