import { setImmediate as otherWork } from 'node:timers/promises'
import Type from 'typebox'
import type { Queryable } from '../database/database.ts'
import type { KnowledgeBaseRow } from '../knowledge-bases/queries.ts'
import { DocumentNode, FolderNode, KnowledgeBase, type TreeFolder, type TreeNode } from '../knowledge-bases/schema.ts'
import { containerSummary, documentSummary, type KnownSummaries, knownSummaries } from './attach.ts'
import type { Container } from './container-queries.ts'
import { childLimit, type SummarisedChild } from './deterministic.ts'
import { type Digest, digestedDocuments, digestInThread } from './digests.ts'
import { Summary } from './schema.ts'
import { emptyDigest, titleLimit } from './source.ts'
import { addSums, type EntrySum, entriesByFolder, noEntries, versionOf } from './versions.ts'

const optionalSummary = Type.Optional(Summary)

// A document of the tree; `summary` is present only if it was asked for.
const DocumentShape = Type.Object({ ...DocumentNode.properties, summary: optionalSummary }, { $id: 'TreeDocument' })

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

/** The answer of `GET /knowledge-bases/{id}/tree`. */
export const Tree = Type.Object(
  {
    knowledge_base: KnowledgeBase,
    children: Type.Array(Type.Union([FolderShape, DocumentShape]), {
      description: 'folders first by name, then documents by title, ties by id, unless `sort` names another order',
    }),
    summary: optionalSummary,
  },
  { $id: 'Tree' },
)

type PlainTree = { knowledge_base: KnowledgeBaseRow; children: TreeNode[] }

/**
 * Returns a tree as the JSON text of `Tree`, with the summary of every node and of the knowledge base. Documents are
 * read and written page by page, and other work comes between two folders, so a large tree does not block the event
 * loop. Source versions of folders are summed from the leaves up, so that each entry counts once.
 */
export async function summariseTree(db: Queryable, tree: PlainTree): Promise<string> {
  const { knowledge_base, children } = tree
  const { workspace_id: workspaceId, id } = knowledge_base
  const documents = await writeDocuments(db, { workspaceId, placed: [...documentsIn(children)] })
  const entries = await entriesByFolder(db, { workspaceId, id })
  const known = await knownSummaries(db, {
    workspaceIds: [workspaceId],
    targets: [
      { type: 'folder', ids: entries.flatMap(({ folder_id }) => folder_id ?? []) },
      { type: 'knowledge_base', ids: [id] },
    ],
  })
  const walk = new Walk({ workspaceId, documents, entries, known })
  const target = { workspaceId, type: 'knowledge_base', id, blockId: null } as const
  const { text, summary } = await walk.container(target, { name: knowledge_base.name, children })
  return `{"knowledge_base":${JSON.stringify(knowledge_base)},"children":${text},"summary":${summary}}`
}

// Each page of documents is summarised in one go, within some milliseconds.
const documentsAtOnce = 100

/** A document of a tree; the summary of its container names the document when `isNamed` is true. */
type Placed = { node: DocumentNode; isNamed: boolean }

/** A document as JSON text with its summary; `digest` is null when no container names the document. */
type Written = { text: string; digest: Digest | null }

function* documentsIn(nodes: readonly TreeNode[]): Generator<Placed> {
  for (const [index, node] of nodes.entries()) {
    if (node.type === 'folder') yield* documentsIn(node.children)
    else yield { node, isNamed: index < childLimit }
  }
}

// Returns the documents by id. A document that was deleted meanwhile has no summary.
async function writeDocuments(
  db: Queryable,
  { workspaceId, placed }: { workspaceId: string; placed: readonly Placed[] },
): Promise<ReadonlyMap<string, Written>> {
  const written = new Map<string, Written>()
  for (let start = 0; start < placed.length; start += documentsAtOnce) {
    const page = placed.slice(start, start + documentsAtOnce)
    const selection = { workspaceIds: [workspaceId], ids: page.map(({ node }) => node.id) }
    const found = await digestedDocuments(db, selection, digestInThread)
    const documents = new Map(found.map((document) => [document.id, document]))
    const known = await knownSummaries(db, { ...selection, targets: [{ type: 'document', ids: selection.ids }] })
    for (const { node, isNamed } of page) {
      const document = documents.get(node.id)
      const summarised = document ? { ...node, summary: documentSummary(document, known) } : node
      const digest = isNamed ? (document?.digest ?? emptyDigest) : null
      written.set(node.id, { text: JSON.stringify(summarised), digest })
    }
  }
  return written
}

/**
 * The children of a container and its summary, both as JSON text, with the sum from which its source version follows.
 */
type WrittenContainer = { text: string; summary: string; sum: EntrySum }

// One pass over the tree, from the leaves up.
class Walk {
  readonly #workspaceId: string
  readonly #documents: ReadonlyMap<string, Written>
  readonly #entries: ReadonlyMap<number | null, EntrySum>
  readonly #known: KnownSummaries

  constructor(found: {
    workspaceId: string
    documents: ReadonlyMap<string, Written>
    entries: readonly (EntrySum & { folder_id: number | null })[]
    known: KnownSummaries
  }) {
    this.#workspaceId = found.workspaceId
    this.#documents = found.documents
    this.#entries = new Map(found.entries.map(({ folder_id, ...sum }) => [folder_id, sum]))
    this.#known = found.known
  }

  /** Writes the children and the summary of a folder or knowledge base. */
  async container(
    target: Container,
    { name, children }: { name: string; children: readonly TreeNode[] },
  ): Promise<WrittenContainer> {
    const texts: string[] = []
    // The sum begins with the documents directly in the container, and with the folder itself.
    let sum = this.#entries.get(target.type === 'folder' ? target.id : null) ?? noEntries
    for (const child of children) {
      if (child.type === 'document') texts.push(this.#documents.get(child.id)?.text ?? JSON.stringify(child))
      else {
        const folder = await this.#folder(child)
        texts.push(folder.text)
        sum = addSums(sum, folder.sum)
      }
    }
    const summary = containerSummary(
      { target, name, version: versionOf(sum), children: this.#named(children), documentCount: sum.documents },
      this.#known,
    )
    return { text: `[${texts.join()}]`, summary: JSON.stringify(summary), sum }
  }

  async #folder({ children, ...node }: TreeFolder): Promise<{ text: string; sum: EntrySum }> {
    const target = { workspaceId: this.#workspaceId, type: 'folder', id: node.id, blockId: null } as const
    const { text, summary, sum } = await this.container(target, { name: node.name, children })
    await otherWork()
    return { text: `${JSON.stringify(node).slice(0, -1)},"children":${text},"summary":${summary}}`, sum }
  }

  // Returns the children that a summary may name, and one more if there are more.
  #named(nodes: readonly TreeNode[]): SummarisedChild[] {
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
