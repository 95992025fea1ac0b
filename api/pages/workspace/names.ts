import { Compile } from 'typebox/compile'
import { DocumentUpdateInput, longestTitle } from '../../../shared/documents/schema.ts'
import { longestName, NameInput } from '../../../shared/knowledge-bases/schema.ts'

/** The title of a document that nobody has named yet. */
export const untitled = 'Untitled'

const names = Compile(NameInput)
const titles = Compile(DocumentUpdateInput)

/** What is wrong with the name of a knowledge base or folder, in a sentence for the person; null for a good name. */
export function problemOfName(name: string): string | null {
  return names.Check({ name }) ? null : `Give it a name of 1 to ${longestName} characters.`
}

/** What is wrong with the title of a document, in a sentence for the person; null for a good title. */
export function problemOfTitle(title: string): string | null {
  return titles.Check({ title }) ? null : `Give it a title of 1 to ${longestTitle} characters.`
}
