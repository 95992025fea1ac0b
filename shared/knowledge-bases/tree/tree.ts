import type { NodeRow } from '../tree.ts'
import { presentNode } from './nodes.ts'
import type { TreeFolder, TreeNode } from './schema.ts'

/** Nests the rows of one knowledge base, keeping their order; what has no parent is at the root (decisions 4.7). */
export function nest(rows: readonly NodeRow[]): TreeNode[] {
  const nodes = rows.map(treeNode)
  const folders = new Map(nodes.filter((node) => node.type === 'folder').map((folder) => [folder.id, folder]))
  const root: TreeNode[] = []
  for (const node of nodes) {
    const parentId = node.type === 'folder' ? node.parent_id : node.folder_id
    const siblings = parentId === null ? root : folders.get(parentId)?.children
    siblings?.push(node)
  }
  return root
}

function treeNode(row: NodeRow): TreeNode {
  const node = presentNode(row)
  return node.type === 'folder' ? ({ ...node, children: [] } satisfies TreeFolder) : node
}
