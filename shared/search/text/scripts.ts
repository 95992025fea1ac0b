/** A stretch of text that is tokenised in one way; offsets are UTF-16 units of the text it was cut from. */
export type Run = { text: string; start: number; gram: 0 | 1 | 2 | 3 }

/**
 * Cuts a text (NFKC) into runs: `gram` 2 for Chinese, Japanese and Korean, 3 for Thai, Lao, Khmer and Burmese (search
 * memo, section 1), 1 for emoji, 0 for words, identifiers and paths of all other scripts, with the punctuation that glues them.
 */
export function runsOf(text: string): Run[] {
  const runs: Run[] = []
  runPattern.lastIndex = 0
  // matchAll would compile the large pattern anew for every text.
  for (let match = runPattern.exec(text); match !== null; match = runPattern.exec(text)) {
    const [run, bigrams, trigrams, emoji] = match
    runs.push({ text: run, start: match.index, gram: bigrams ? 2 : trigrams ? 3 : emoji ? 1 : 0 })
  }
  return runs
}

/** Words of a glued run with their offsets in it: `src/lib/db.ts` gives src, lib, db, ts. */
export function chunksOf(run: string): { text: string; start: number }[] {
  if (!gluePattern.test(run)) return [{ text: run, start: 0 }]
  return Array.from(run.matchAll(chunkPattern), ({ 0: text, index }) => ({ text, start: index }))
}

/** Words inside a word by its capitals, with their offsets in it: `HTTPServer` gives HTTP, Server. */
export function humpsOf(chunk: string): { text: string; start: number }[] {
  if (chunk.toLowerCase() === chunk) return [{ text: chunk, start: 0 }]
  let start = 0
  return chunk.split(humpPattern).map((text) => {
    const hump = { text, start }
    start += text.length
    return hump
  })
}

/** Whether a gram has fewer characters than a full one of its script. */
export function isShortGram(gram: string): boolean {
  return Array.from(gram).length < (trigramPattern.test(gram) ? 3 : 2)
}

// Invisible characters that may stand inside a word: soft hyphen, joiners, zero-width space, marks of direction.
const invisible = '\\u00ad\\u200b-\\u200f\\u2060\\ufe00-\\ufe0f\\ufeff'
const alphanumeric = '[\\p{L}\\p{M}\\p{N}]'
const bigramScript = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Bopo}'
const trigramScript = '\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}'
const bigramLetter = `[[${bigramScript}]&&${alphanumeric}]`
const trigramLetter = `[[${trigramScript}]&&${alphanumeric}]`
const letter = `[${alphanumeric}--[${bigramScript}${trigramScript}]]`
const emoji = '[\\p{Extended_Pictographic}\\p{Regional_Indicator}]'
const chunk = `${letter}[${letter}${invisible}]*`
// No ^, ~ or @ may begin a token and ^ may not stand in one: the index marks its own lexemes with them.
const glue = "._\\-\\/\\\\:@#+&'’=?%$~"

const runPattern = new RegExp(
  `(${bigramLetter}[${bigramLetter}${invisible}]*)|(${trigramLetter}[${trigramLetter}${invisible}]*)` +
    `|${chunk}(?:[${glue}]{1,3}${chunk})*(?:[+#]{1,2}(?!${letter}))?` +
    `|(${emoji}[${emoji}\\p{Emoji_Modifier}${invisible}]*)`,
  'gv',
)
const trigramPattern = new RegExp(`^[${trigramScript}]`, 'v')
const gluePattern = new RegExp(`[${glue}]`, 'u')
const chunkPattern = new RegExp(`[^${glue}]+`, 'gu')
const humpPattern = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
