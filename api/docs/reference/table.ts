/** A Markdown table. The cells of the table are escaped, so no text can break out of its cell. */
export function table(input: { head: readonly string[]; rows: readonly (readonly string[])[] }): string {
  const { head, rows } = input
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
}
