import Type, { type Static } from 'typebox'
import type { Queryable } from '../database/database.ts'
import type { KnowledgeBaseRow } from '../knowledge-bases/queries.ts'
import { DocumentNode, FolderNode, KnowledgeBase, type TreeFolder, type TreeNode } from '../knowledge-bases/schema.ts'
import { containerSummary, documentSummary, type KnownSummaries, knownSummaries } from './attach.ts'
import { childLimit, type SummarisedChild } from './deterministic.ts'
import { type DigestedDocument, digestedDocuments, digestInThread } from './digests.ts'
import { Summary } from './schema.ts'
import { emptyDigest, titleLimit } from './source.ts'
import { addSums, type EntrySum, entriesByFolder, noEntries, versionOf } from './versions.ts'

const optionalSummary = Type.Optional(Summary)

// A document of the tree; `summary` is present only if it was asked for.
const DocumentShape = Type.Object({ ...DocumentNode.properties, summary: optionalSummary }, { $id: 'TreeDocument' })
type SummarisedDocument = Static<typeof DocumentShape>

// A folder of the tree with everything below it.
const FolderShape = Type.Cyclic(
  {
    TreeFolder: Type.Object({
      ...FolderNode.properties,
      children: Type.Array(Type.Union([Type.Ref('TreeFolder'), DocumentShape])),
      summary: optionalSummary,
    }),
  },
  'TreeFolder',
)
type SummarisedFolder = FolderNode & { children: SummarisedNode[]; summary?: Summary }
type SummarisedNode = SummarisedFolder | SummarisedDocument

/** The answer of `GET /knowledge-bases/{id}/tree`. */
export const Tree = Type.Object(
  {
    knowledge_base: KnowledgeBase,
    children: Type.Array(Type.Union([FolderShape, DocumentShape]), {
      description: 'folders first by name, then documents by title, ties by id',
    }),
    summary: optionalSummary,
  },
  { $id: 'Tree' },
)

type PlainTree = { knowledge_base: KnowledgeBaseRow; children: TreeNode[] }

/**
 * Adds the summary of every node and of the knowledge base. The number of statements does not depend on the number of
 * nodes. Source versions of folders are summed from the leaves up, so that each entry counts once.
 */
export async function summariseTree(
  db: Queryable,
  tree: PlainTree,
): Promise<Omit<PlainTree, 'children'> & { children: SummarisedNode[]; summary: Summary }> {
  const { knowledge_base, children } = tree
  const { workspace_id: workspaceId, id } = knowledge_base
  const documents = await digestedDocuments(db, { workspaceIds: [workspaceId], knowledgeBaseId: id }, digestInThread)
  const entries = await entriesByFolder(db, { workspaceId, id })
  const folders = entries.flatMap(({ folder_id }) => folder_id ?? [])
  const known = await knownSummaries(db, {
    workspaceIds: [workspaceId],
    targets: [
      { type: 'document', ids: documents.map((document) => document.id) },
      { type: 'folder', ids: folders },
      { type: 'knowledge_base', ids: [id] },
    ],
  })
  const walk = new Walk({ workspaceId, documents, entries, known })
  const below = children.map((child) => walk.node(child))
  const target = { workspaceId, type: 'knowledge_base', id, blockId: null } as const
  const sum = below.reduce((total, child) => addSums(total, child.sum), walk.entriesOf(null))
  const summary = containerSummary(
    {
      target,
      name: knowledge_base.name,
      version: versionOf(sum),
      children: walk.childrenOf(children),
      documentCount: sum.documents,
    },
    known,
  )
  return { knowledge_base, children: below.map(({ node }) => node), summary }
}

// One pass over the tree, from the leaves up.
class Walk {
  readonly #workspaceId: string
  readonly #documents: ReadonlyMap<string, DigestedDocument>
  readonly #entries: ReadonlyMap<number | null, EntrySum>
  readonly #known: KnownSummaries

  constructor(found: {
    workspaceId: string
    documents: readonly DigestedDocument[]
    entries: readonly (EntrySum & { folder_id: number | null })[]
    known: KnownSummaries
  }) {
    this.#workspaceId = found.workspaceId
    this.#documents = new Map(found.documents.map((document) => [document.id, document]))
    this.#entries = new Map(found.entries.map(({ folder_id, ...sum }) => [folder_id, sum]))
    this.#known = found.known
  }

  /** Returns a node with its summary, and the sum of the entries that the parent folder has to add. */
  node(node: TreeNode): { node: SummarisedNode; sum: EntrySum } {
    if (node.type === 'folder') return this.#folder(node)
    const document = this.#documents.get(node.id)
    // A document that was deleted between two statements has no summary.
    const summarised = document ? { ...node, summary: documentSummary(document, this.#known) } : node
    return { node: summarised, sum: noEntries }
  }

  #folder(folder: TreeFolder): { node: SummarisedNode; sum: EntrySum } {
    const below = folder.children.map((child) => this.node(child))
    const sum = below.reduce((total, child) => addSums(total, child.sum), this.entriesOf(folder.id))
    const target = { workspaceId: this.#workspaceId, type: 'folder', id: folder.id, blockId: null } as const
    const summary = containerSummary(
      {
        target,
        name: folder.name,
        version: versionOf(sum),
        children: this.childrenOf(folder.children),
        documentCount: sum.documents,
      },
      this.#known,
    )
    return { node: { ...folder, children: below.map(({ node }) => node), summary }, sum }
  }

  /** Returns the sum of the documents directly in a folder and of the folder itself. */
  entriesOf(folderId: number | null): EntrySum {
    return this.#entries.get(folderId) ?? noEntries
  }

  childrenOf(nodes: readonly TreeNode[]): SummarisedChild[] {
    return nodes.slice(0, childLimit + 1).map((node) => {
      if (node.type === 'folder') {
        const titles = node.children.slice(0, titleLimit).map(labelOf)
        return { type: 'folder', label: node.name, titles }
      }
      const digest = this.#documents.get(node.id)?.digest ?? emptyDigest
      return { type: 'document', id: node.id, label: node.title, digest }
    })
  }
}

function labelOf(node: TreeNode): string {
  return node.type === 'folder' ? node.name : node.title
}
