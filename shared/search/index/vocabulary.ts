import Type from 'typebox'
import { prepared, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'

// The most words that a process remembers as known.
const mostRemembered = 100_000

const remembered = new Set<string>()

/** A word of the vocabulary of a workspace. */
type WorkspaceWord = { workspace_id: string; word: string }

/**
 * Adds words to the vocabularies of workspaces. Known words are passed over, and a process remembers most of them: a
 * word that has been committed is never removed while its workspace exists. Call it last in a transaction: another
 * transaction that adds the same new word waits for the end of this one. All add words in the same order, so none waits
 * in a circle.
 */
export async function addToVocabularies(
  tx: Transaction,
  vocabularies: readonly { workspaceId: string; words: readonly string[] }[],
): Promise<void> {
  const asked = new Map<string, WorkspaceWord>()
  for (const { workspaceId, words } of vocabularies) {
    for (const word of words) {
      const key = keyOf({ workspace_id: workspaceId, word })
      if (!remembered.has(key)) asked.set(key, { workspace_id: workspaceId, word })
    }
  }
  if (asked.size === 0) return
  const known = await knownWords(tx, [...asked.values()])
  if (remembered.size + known.length > mostRemembered) remembered.clear()
  for (const word of known.slice(0, mostRemembered)) {
    remembered.add(keyOf(word))
    asked.delete(keyOf(word))
  }
  if (asked.size > 0) await insertWords(tx, [...asked.values()])
}

function keyOf({ workspace_id, word }: WorkspaceWord): string {
  return `${workspace_id} ${word}`
}

const WordRow = row(Type.Object({ workspace_id: Type.String(), word: Type.String() }))

// The words are looked up one by one. The planner would rather read the whole table.
function knownWords(tx: Transaction, words: readonly WorkspaceWord[]) {
  return tx.any(
    prepared(sql.type(WordRow)`
    SELECT known.workspace_id, known.word FROM ${unnested(words)} AS asked (workspace_id, word)
    CROSS JOIN LATERAL (
      SELECT v.workspace_id, v.word FROM search_words v
      WHERE v.workspace_id = asked.workspace_id AND v.word = asked.word LIMIT 1) AS known`),
  )
}

async function insertWords(tx: Transaction, words: readonly WorkspaceWord[]): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO search_words (workspace_id, word)
    SELECT workspace_id, word FROM ${unnested(words)} AS asked (workspace_id, word)
    ORDER BY workspace_id, word COLLATE "C"
    ON CONFLICT DO NOTHING`),
  )
}

function unnested(words: readonly WorkspaceWord[]) {
  return sql.unnest(
    words.map(({ workspace_id, word }) => [workspace_id, word]),
    ['text', 'text'],
  )
}
