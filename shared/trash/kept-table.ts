/**
 * A table whose rows go to the trash with what they belong to, and the columns that say so. A row belongs to a
 * document, to a folder or knowledge base, to a concept of a deleted knowledge base, or to a translation. What belongs
 * to a translation also belongs to its source document, and goes to the trash with either. `large` is a column with
 * large values, which are moved without being compressed anew. A row that has null in the column `unlessNull` is not
 * kept.
 */
export type KeptTable = { table: string; large?: { column: string; type: LargeType }; unlessNull?: string } & (
  | { ofDocument: string; ofFolder?: string; ofKnowledgeBase?: string }
  | { ofFolder?: string; ofKnowledgeBase: string }
  | { ofConcept: string }
  | { ofTranslation: string }
)

/** The types for whose values `trash_rows` has columns. */
export type LargeType = 'text' | 'bytea' | 'jsonb'
