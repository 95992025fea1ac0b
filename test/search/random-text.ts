import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'

/** Any text that PostgreSQL can store, from plain words to what no one would write. */
export function anyText(): fc.Arbitrary<string> {
  const wild = fc.string({ unit: anyCharacter, maxLength: 40 })
  return fc
    .oneof(
      fewWords(),
      wild,
      fc.tuple(fewWords(), wild).map(([left, right]) => `${left}${right}`),
    )
    .map(storable)
}

/** A text of a few words of many kinds, so that two texts often share some. */
export function fewWords(): fc.Arbitrary<string> {
  const word = fc.constantFrom(...vocabulary)
  const gap = fc.constantFrom(' ', ' ', ' ', '', '.', '-', ', ', '/', '\n', "'", '"', ' (', ') ')
  return fc.array(fc.tuple(word, gap), { maxLength: 8 }).map((pairs) => pairs.flat().join(''))
}

const vocabulary = [
  ...['the', 'box', 'boxes', 'running', 'Run', 'ran', 'it', "don't", 'C++', 'a', 'A', 'Ab', 'und', 'Straßen'],
  ...['STRASSE', 'fetchUser_v2', 'src/lib/db.ts', 'HTTPServer', 'httpserver', 'v2', 'db', 'ts', '1,000', '3.14', '50%'],
  ...[
    'user@example.org',
    'café',
    'cafe\u0301',
    'ÉTÉ',
    'й',
    'и',
    'ёлка',
    'Ёлки',
    '日本',
    '日本語',
    '語',
    'テスト',
    'ﾃﾞｰﾀ',
  ],
  ...['데이터베이스', '이', 'ภาษาไทย', 'ไทย', 'ที่นี่', 'ခရီး', 'ﬁle', '㈱', '①', 'ａｂｃ', 'soft\u00adhyphen', 'नमस्ते'],
  ...['مُحَمَّد', '—', '😀', '✅\ufe0f', '👋🏽', '^', '~x', '@w'],
]

function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '')
}
