import pLimit from 'p-limit'
import type { Client } from '../../support/client.ts'
import { markdownFiles } from '../../support/markdown-files.ts'
import { searchV2 } from '../../support/search.ts'
import { until } from '../../support/site.ts'

/** A knowledge base of real Markdown files, with the documents of a product among them that agents work with. */
export type Base = { knowledgeBase: number; handbook: number; documents: Record<keyof typeof handbook, string> }

// The documents of the product. The texts name things that no installed package names.
const handbook = {
  gateway: `# Gateway\n\nThe Harbour gateway listens on port 8080 by default.\n\n## Limits\n\nIt accepts 200 requests per second, and answers the rest with the status 429.`,
  signIn: `# Signing in\n\nA dockhand signs in with a key. Keys of the dockhand expire after 90 days.`,
  keys: `# Keys\n\nEach dockhand has one key. A dockhand who leaves hands the key back.`,
  shifts: `# Shifts\n\nThe dockhand of the night shift closes the gate at ten.`,
  backups: `# Backups\n\nHarbour makes a backup each night at two. Backups are kept for thirty days.`,
  archive: `# Archive\n\nWhat is older than a year goes to the archive, which nobody searches.`,
  release: `# Release notes\n\nHarbour 4 starts in half the time of Harbour 3.`,
}

/**
 * Makes the base with `count` documents altogether, a folder for each package and a folder for the handbook, and waits
 * until searches find them. The client's token must be allowed to write as much as that.
 */
export async function makeBase(client: Client, count: number): Promise<Base> {
  const knowledgeBase = await created<number>(client, '/knowledge-bases', { name: 'Docs' })
  const packagesFolder = await created<number>(client, '/folders', {
    name: 'Packages',
    knowledge_base_id: knowledgeBase,
  })
  const packageFolder = (name: string) => created<number>(client, '/folders', { name, parent_id: packagesFolder })
  const files = markdownFiles(count - Object.keys(handbook).length - pointers.length)
  const packages = [...new Set(files.map((file) => file.package))]
  const limit = pLimit(8)
  const folders = new Map(
    await Promise.all(packages.map((name) => limit(async () => [name, await packageFolder(name)] as const))),
  )
  const writeFile = ({ title, text, package: name }: (typeof files)[number]) =>
    document(client, { title: title.slice(-200), folder: folders.get(name) ?? 0, text })
  await Promise.all(files.map((file) => limit(() => writeFile(file))))
  const handbookFolder = await created<number>(client, '/folders', {
    name: 'Handbook',
    knowledge_base_id: knowledgeBase,
  })
  const documents = {} as Base['documents']
  for (const [name, text] of Object.entries(handbook)) {
    const title = /^# (.*)$/m.exec(text)?.[1] ?? name
    documents[name as keyof typeof handbook] = await document(client, { title, folder: handbookFolder, text })
  }
  for (const [title, sentence] of pointers) {
    const text = `# ${title}\n\n${sentence.replace('URI', `svc://doc/${documents.archive}`)}`
    await document(client, { title, folder: handbookFolder, text })
  }
  await until(async () => (await searchV2(client, { q: 'Harbour' })).projection.complete)
  return { knowledgeBase, handbook: handbookFolder, documents }
}

// Documents with a link to the document about the archive.
const pointers = [
  ['Reports', 'Old reports are in the [archive](URI), by year.'],
  ['Invoices', 'Look into the [archive](URI) for invoices of last year.'],
] as const

async function document(client: Client, made: { title: string; folder: number; text: string }): Promise<string> {
  const { title, folder: folder_id, text } = made
  return created<string>(client, '/documents', { title, folder_id, content: { format: 'markdown', content: text } })
}

async function created<Id>(client: Client, path: string, body: object): Promise<Id> {
  const { status, text, body: reply } = await client.post(path, body)
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`)
  return reply.data.id
}
