/**
 * A table whose rows go to the trash with what they belong to, and the columns that say so. A row belongs to a document,
 * to a folder or knowledge base, to a concept of a deleted knowledge base, or to a translation. What belongs to a
 * translation also belongs to its source document, and goes to the trash with either.
 */
export type KeptTable = { table: string } & (
  | { ofDocument: string; ofFolder?: string; ofKnowledgeBase?: string }
  | { ofFolder?: string; ofKnowledgeBase: string }
  | { ofConcept: string }
  | { ofTranslation: string }
)
