import { requireWriter } from '../../../shared/auth/caller.ts'
import { storedTags, tagLimits } from '../../../shared/documents/metadata.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { DocumentUpdateInput } from '../../../shared/documents/schema.ts'
import { type MetadataInput, updateDocument } from '../../../shared/documents/update.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { bodyReader } from '../../http/input.ts'
import type { DocumentCall } from '../document-call.ts'
import { actionOf, FormRefusal } from '../form-refusal.ts'
import type { Form } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { readName, readValue, stateOf } from './values.ts'

/** Why a form was refused: the status of the answer and a sentence for the person. */
export type PropertiesProblem = { status: number; message: string }

// The most characters of a field for tags, as in the form.
const longestField = 4000

const readUpdate = bodyReader(DocumentUpdateInput) as (body: unknown) => MetadataInput

/**
 * Does what a form of the page asks for. The button says what: `tags`, `add`, `set` or `remove`. The field `state`
 * stands for what the form was filled in from. When somebody has changed that in the meantime, nothing is written.
 */
export async function changeProperties(call: DocumentCall, form: Form): Promise<void> {
  requireWriter(call.caller, call.document.workspace_id)
  if (typedTags(form).some(({ length }) => length > longestField)) throw new FormRefusal('invalid_request', tagRule)
  const { metadata, current } = actionOf(changes, form.field('action'))(form)
  const update = readUpdate(metadata)
  const { document } = call
  const guard = async (locked: DocumentRow) => {
    if (stateOf(current(locked)) !== form.field('state')) throw new FormRefusal('version_conflict', changedMeanwhile)
  }
  await pageWrite(call, async (context) => {
    await updateDocument(context, { documentId: document.id, caller: context.caller, metadata: update, guard })
    await recordPageWrite(context.tx, { call, action: 'updateDocument', documentIds: [document.id] })
  })
}

/** Puts a refusal into words for the page. What no change of the form can help is thrown again. */
export function propertiesProblemOf(error: unknown): PropertiesProblem {
  if (error instanceof FormRefusal) return { status: error.status, message: error.message }
  if (!(error instanceof Refusal) || error.code !== 'invalid_request') throw error
  const { fields = [] } = error.details as { fields?: { path: string }[] }
  const isOfTags = fields[0]?.path.startsWith('/tags') === true
  return {
    status: error.status,
    message: isOfTags ? tagRule : 'A document has at most 50 properties, and at most 256 KiB of them.',
  }
}

// The tags that a form keeps and adds.
function tagsOf(form: Form): string[] {
  return storedTags([...tickedTags(form), ...addedTags(form)]).tags
}

/** The tags in the field for new tags. Of a field that is too long, only the beginning counts. */
export function addedTags(form: Form): string[] {
  const typed = form.field('add').slice(0, longestField).split(',')
  return storedTags(typed.filter((tag) => tag.trim() !== '')).tags
}

/** The tags that a form has shown, and whose ticks the person has cleared. */
export function removedTags(form: Form): string[] {
  const ticked = tickedTags(form)
  return tagFields('was')
    .map(form.field)
    .filter((tag) => tag !== '' && !ticked.includes(tag))
}

function tickedTags(form: Form): string[] {
  return tagFields('tag')
    .map((name) => form.field(name).slice(0, longestField))
    .filter((tag) => tag.trim() !== '')
}

// What the fields for tags hold: the field for new tags first, then each tag of the document that is kept.
function typedTags(form: Form): string[] {
  return ['add', ...tagFields('tag')].map(form.field)
}

function tagFields(name: 'tag' | 'was'): string[] {
  return Array.from({ length: tagLimits.tags }, (_, index) => `${name}_${index}`)
}

const tagRule = `A document has at most ${tagLimits.tags} tags, and a tag has at most ${tagLimits.characters} characters.`

const changedMeanwhile =
  'Somebody has changed this in the meantime, so nothing was saved. What you typed is still in the form. Save again to replace what is there now.'

/** A change of a form, and the part of the document that it was filled in from. */
type Change = { metadata: object; current: (document: DocumentRow) => Parameters<typeof stateOf>[0] }

const changes: ReadonlyMap<string, (form: Form) => Change> = new Map([
  ['tags', (form) => ({ metadata: { tags: tagsOf(form) }, current: ({ tags }) => tags })],
  ['add', (form) => changeOfProperty(form, typedValue)],
  ['set', (form) => changeOfProperty(form, typedValue)],
  ['remove', (form) => changeOfProperty(form, () => null)],
])

function changeOfProperty(form: Form, stored: (form: Form) => unknown): Change {
  const { name } = right(readName(form.field('name')))
  const current = ({ properties }: DocumentRow) => (Object.hasOwn(properties, name) ? properties[name] : undefined)
  return { metadata: { properties_patch: { [name]: stored(form) } }, current }
}

function typedValue(form: Form): unknown {
  return right(readValue(form.field('kind'), form.field('value'))).value
}

function right<Read extends object>(read: Read | { problem: string }): Read {
  if ('problem' in read) throw new FormRefusal('invalid_request', read.problem)
  return read
}
