import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { DocumentUpdateInput, longestTitle } from '../../../shared/documents/schema.ts'
import { updateDocument } from '../../../shared/documents/update.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { FormRefusal } from '../form-refusal.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { pageRefusalOf } from '../refusals.ts'
import { readJson } from './json-body.ts'

const Change = Compile(Type.Object({ title: Type.String(), was: Type.String() }))
const Update = Compile(DocumentUpdateInput)

/** The answer: the title that the document has now, and in words why it is not the title that was sent. */
type Titled = { title: string; problem: string | null }

/**
 * Changes the title of a document. `was` is the title that the person has seen. If the document has another title
 * meanwhile, nothing is changed, and the answer tells.
 */
export const titlePage = accountPage({
  path: '/d/{documentId}/title',
  async receive(call) {
    const { title, was } = await readJson(call, Change)
    call.response.json(await rename(call, { title: title.trim(), was }))
    return undefined
  },
})

async function rename(call: AccountCall, { title, was }: { title: string; was: string }): Promise<Titled> {
  if (!Update.Check({ title })) return { title: was, problem: `A title has 1 to ${longestTitle} characters.` }
  const documentId = call.params['documentId'] ?? ''
  const guard = async (document: { title: string }) => {
    if (document.title !== was && document.title !== title) throw new OtherTitle(document.title)
  }
  try {
    await pageWrite(call, async (write) => {
      await updateDocument(write, { documentId, caller: write.caller, metadata: { title }, guard })
      await recordPageWrite(write.tx, { call, action: 'updateDocument', documentIds: [documentId] })
    })
    return { title, problem: null }
  } catch (error) {
    if (error instanceof OtherTitle) return { title: error.title, problem: error.message }
    // The title is too long for a translation.
    if (error instanceof Refusal && error.status === 400) return { title: was, problem: pageRefusalOf(error).message }
    throw error
  }
}

/** Thrown when somebody else has changed the title. */
class OtherTitle extends FormRefusal {
  readonly title: string

  constructor(title: string) {
    super('version_conflict', `Somebody has changed the title to “${title}” meanwhile. Save again to change it anyway.`)
    this.title = title
  }
}
