// The part of a text that is looked at, in UTF-16 units. The longest text that the service turns into blocks.
const sample = 65_536
const longest = 1_000_000

// No part of a text is read again from each of its characters, so the time is linear in the size of the text.
const patterns = [
  /^#{1,6} \S/m,
  /^[ \t]{0,3}[-*+] \S/m,
  /^[ \t]{0,3}\d{1,9}[.)] \S/m,
  /^```/m,
  /^> /m,
  /^\|.+\|[ \t]*\r?\n\|[ :|-]+\|/m,
  /\*\*\S(?:[^*\n]{0,300}[^*\s])?\*\*/,
  /\[[^[\]\n]{1,300}\]\([^[)\s]{1,2000}\)/,
]

/** Whether the beginning of a text has the syntax of Markdown, and the service may convert the text. */
export function looksLikeMarkdown(text: string): boolean {
  const beginning = text.slice(0, sample)
  return text.length < longest && patterns.some((pattern) => pattern.test(beginning))
}
