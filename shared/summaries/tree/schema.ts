import Type, { type Static } from 'typebox'
import { DocumentNode, FolderNode, KnowledgeBase } from '../../knowledge-bases/schema.ts'
import { Summary } from '../schema.ts'

const summary = Type.Optional(Summary)

/** A document of the tree; `summary` only where it was asked for. */
const TreeDocument = Type.Object({ ...DocumentNode.properties, summary }, { $id: 'TreeDocument' })
export type SummarisedDocument = Static<typeof TreeDocument>

/** A folder of the tree, with everything below it. */
const TreeFolder = Type.Cyclic(
  {
    TreeFolder: Type.Object({
      ...FolderNode.properties,
      children: Type.Array(Type.Union([Type.Ref('TreeFolder'), TreeDocument])),
      summary,
    }),
  },
  'TreeFolder',
)
export type SummarisedFolder = FolderNode & { children: SummarisedNode[]; summary?: Summary }
export type SummarisedNode = SummarisedFolder | SummarisedDocument

/** `GET /knowledge-bases/{id}/tree`. */
export const Tree = Type.Object(
  {
    knowledge_base: KnowledgeBase,
    children: Type.Array(Type.Union([TreeFolder, TreeDocument]), {
      description: 'folders first by name, then documents by title, ties by id',
    }),
    summary,
  },
  { $id: 'Tree' },
)
