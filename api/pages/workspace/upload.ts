import { bodyLimits } from '../../../shared/body/body-limits.ts'
import { writeContent } from '../../../shared/body/content.ts'
import { createDocuments } from '../../../shared/body/create-document.ts'
import { computingAhead } from '../../../shared/computations/ahead.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { isStorable } from '../../../shared/schema/strings.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import type { FilesForm, FormFile } from '../files-form.ts'
import type { PageAnswer } from '../page.ts'
import { recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { writeOnce } from '../write-once.ts'
import { addressOf, folderPaths, pathOf } from './addresses.ts'
import { type AddressedFolder, requireWritableFolder } from './folders.ts'
import { readingMarkdownFile } from './markdown-file.ts'
import type { Place } from './place.ts'
import { type Problem, problemOf } from './problems.ts'

// The most files of one upload.
const mostFiles = 50

const uploadView = view<{
  csrfToken: string
  place: Place
  path: string
  mostFiles: number
  problem: string | null
}>('upload')

/** Makes documents from Markdown files in a knowledge base or folder: all of them, or none if one cannot be read. */
export const uploadPages = folderPaths.map((path) =>
  accountPage({
    path: `${path}/upload`,
    async get(call) {
      return { html: show(call, { folder: await requireWritableFolder(call), problem: null }) }
    },
    async upload(call) {
      const folder = await requireWritableFolder(call)
      const refuse = ({ status, message }: Problem) => ({ status, html: show(call, { folder, problem: message }) })
      const form = await call.filesForm()
      const { files } = form
      if (files.length === 0) return refuse({ status: 400, message: 'Choose the files first.' })
      if (files.length > mostFiles)
        return refuse({ status: 400, message: `Choose at most ${mostFiles} files at once.` })
      return upload(call, form).catch((error: unknown) => refuse(problemOfFiles(error)))
    },
  }),
)

function show(call: AccountCall, { folder, problem }: { folder: AddressedFolder; problem: string | null }): string {
  const { account, csrfToken } = call
  const path = pathOf(folder.address)
  return uploadView({ title: 'Upload Markdown', account, csrfToken, place: folder.place, path, mostFiles, problem })
}

async function upload(call: AccountCall, form: FilesForm): Promise<PageAnswer> {
  const { knowledgeBaseId, folderId } = addressOf(call)
  const documents = await documentsOf(call, form.files)
  const files = await Promise.all(form.files.map(digestOf))
  const path = await writeOnce(call, { form, files }, async (write) => {
    const location = { knowledge_base_id: knowledgeBaseId, folder_id: folderId }
    const rows = await createDocuments(write, { caller: write.caller, location, documents })
    await recordPageWrite(write.tx, { call, action: 'createDocument', documentIds: rows.map(({ id }) => id) })
    const [first] = rows
    if (rows.length === 1 && first !== undefined) return `/d/${first.id}`
    return `${pathOf({ knowledgeBaseId, folderId })}?uploaded=${rows.length}`
  })
  return { location: path }
}

// A thread computes the digest.
async function digestOf({ name, bytes }: FormFile): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return JSON.stringify([name, Buffer.from(digest).toString('base64url')])
}

// Makes the documents one after another, so that a large upload takes one turn at a time.
async function documentsOf(call: AccountCall, files: readonly FormFile[]) {
  const documents: Awaited<ReturnType<typeof documentOf>>[] = []
  for (const file of files) {
    const document = await documentOf(call, { file, path: `/files/${documents.length}` }).catch((error: unknown) => {
      throw error instanceof UnreadableFile ? error : new UnreadableFile(file.name, problemOf(error).message)
    })
    documents.push(document)
  }
  return documents
}

async function documentOf({ service }: AccountCall, { file, path }: { file: FormFile; path: string }) {
  if (!/\.(md|markdown|txt)$/i.test(file.name)) {
    throw new UnreadableFile(file.name, 'Its name does not end in .md, .markdown or .txt.')
  }
  const text = textOf(file)
  const { markdown, ...document } = await compute(readingMarkdownFile, { name: file.name, text })
  const input = { format: 'markdown' as const, content: markdown }
  const source = { input, stored: null, path, ...bodyLimits(service.config) }
  return { document, content: await computingAhead((ahead) => writeContent(ahead, source)) }
}

function textOf({ name, bytes }: FormFile): string {
  const notText = () => new UnreadableFile(name, 'It is no text in UTF-8.')
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (isStorable(text)) return text
  } catch {
    throw notText()
  }
  throw notText()
}

/** A file that no document can be made from, with the reason in a sentence for the person. */
class UnreadableFile extends Error {
  constructor(name: string, reason: string) {
    super(`Nothing was uploaded, because of “${name}”. ${reason}`)
  }
}

function problemOfFiles(error: unknown): Problem {
  return error instanceof UnreadableFile ? { status: 422, message: error.message } : problemOf(error)
}
