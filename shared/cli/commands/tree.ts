import { wholeNumber } from '../frame/arguments.ts'
import { type Cli, examples } from '../frame/command.ts'
import type { Connection } from '../frame/connection.ts'
import { placeNamed } from '../frame/names.ts'
import type { Output } from '../terminal/output.ts'

type Options = { depth?: number; folders?: boolean }

type Node = {
  type: string
  id: string | number
  name?: string
  title?: string
  children?: readonly Node[]
}

/** `tree`: the folders and documents of a knowledge base or folder. */
export function registerTree({ program, run }: Cli): void {
  program
    .command('tree')
    .argument('<place>', 'knowledge base or folder: id, address or path')
    .summary('show the folders and documents of a knowledge base')
    .description('Shows the folders and documents of a knowledge base or of a folder, with their ids.')
    .option('--depth <number>', 'how many levels are shown', wholeNumber)
    .option('--folders', 'only folders')
    .addHelpText(
      'after',
      examples(
        ['tree Zoo', 'everything in a knowledge base'],
        ['tree Zoo/Mammals --depth 1', 'what is directly in a folder'],
      ),
    )
    .action((place: string, options: Options) =>
      run(async ({ out, connect }) => {
        const { root, children } = await treeOf(await connect(), place)
        const shown = pruned(children, options)
        out.answer({ ...root, children: shown }, () => {
          out.line({ text: root.name, style: 'bold' })
          show(out, shown, '')
        })
      }),
    )
}

// A knowledge base with its tree, or a folder with its part of the tree.
async function treeOf(connection: Connection, name: string) {
  const { api } = connection.service
  const place = await placeNamed(connection, name)
  const params = { path: { id: place.id } }
  const folder = place.type === 'folder' ? (await api.GET('/folders/{id}', { params })).data : null
  const id = folder?.knowledge_base_id ?? place.id
  const { data: tree } = await api.GET('/knowledge-bases/{id}/tree', { params: { path: { id } } })
  const children = tree.children as readonly Node[]
  if (folder === null) return { root: { type: 'knowledge_base', ...tree.knowledge_base }, children }
  return { root: { type: 'folder', ...folder }, children: childrenOf(children, folder.id) ?? [] }
}

function childrenOf(nodes: readonly Node[], folder: number): readonly Node[] | undefined {
  for (const { type, id, children = [] } of nodes) {
    if (type !== 'folder') continue
    const found = id === folder ? children : childrenOf(children, folder)
    if (found !== undefined) return found
  }
  return undefined
}

function pruned(nodes: readonly Node[], { depth = Number.POSITIVE_INFINITY, folders = false }: Options): Node[] {
  const kept = nodes.filter(({ type }) => type === 'folder' || !folders)
  return kept.map(({ children, ...node }) => {
    if (children === undefined) return node
    return { ...node, children: depth > 1 ? pruned(children, { depth: depth - 1, folders }) : [] }
  })
}

function show(out: Output, nodes: readonly Node[], indent: string): void {
  for (const [index, { type, id, name, title, children = [] }] of nodes.entries()) {
    const isLast = index === nodes.length - 1
    const shortName = type === 'folder' ? `folders/${id}` : String(id)
    const label = type === 'folder' ? `${name}/` : (title ?? '')
    out.line(`${indent}${isLast ? '└── ' : '├── '}`, label, '  ', { text: shortName, style: 'dim' })
    show(out, children, `${indent}${isLast ? '    ' : '│   '}`)
  }
}
