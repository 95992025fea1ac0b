import { tagPage } from '../../../shared/documents/tags.ts'
import { accountPage } from '../account-page.ts'
import { type DocumentCall, documentCallOf } from '../document-call.ts'
import type { Form, Page } from '../page.ts'
import { view } from '../render.ts'
import { type Place, placeOf } from '../workspace/place.ts'
import { addedTags, changeProperties, type PropertiesProblem, propertiesProblemOf, removedTags } from './changes.ts'
import { isWritable, type Kind, kindOf, kinds, stateOf, writtenValue } from './values.ts'

const propertiesView = view<{
  csrfToken: string
  document: { id: string; title: string }
  place: Place
  mayWrite: boolean
  kinds: typeof kinds
  tags: { list: ShownTag[]; known: string[]; add: string; state: string; problem: string | null }
  properties: ShownProperty[]
  added: { name: string; kind: string; value: string; state: string; problem: string | null }
}>('properties')

/** A tag of the document, and whether its box is ticked. */
type ShownTag = { tag: string; isKept: boolean }

/** A property as the page shows it. `value` is what the form has, and `now` what is stored. */
type ShownProperty = {
  name: string
  kind: Kind
  value: string
  now: string
  state: string
  isWritable: boolean
  problem: string | null
}

/** A form that was refused, and what it is about: the tags, a property, or a new property. */
type Refused = { submitted: Form; problem: PropertiesProblem; action: string; name: string }

// The most tags of the knowledge base that can be chosen from a list.
const mostTags = 200

/**
 * The tags and properties of a document (api/guide/documents.md#tags-and-properties). Each property has a form of its
 * own, so that two people who change different properties do not stand in each other's way.
 */
export const propertiesPage: Page = {
  // A list has up to 50 texts of 1,000 characters, each of which a form writes with up to 12 bytes.
  formMaxBytes: 1024 * 1024,
  ...accountPage({
    path: '/d/{documentId}/properties',
    async get(call) {
      return show(await documentCallOf(call), null)
    },
    async post(call) {
      const documentCall = await documentCallOf(call)
      const { submitted } = call
      try {
        await changeProperties(documentCall, submitted)
        return { location: `/d/${documentCall.document.id}/properties` }
      } catch (error) {
        const problem = propertiesProblemOf(error)
        const [action, name] = [submitted.field('action'), submitted.field('name').trim()]
        // The document may be another than before the form was sent.
        return show(await documentCallOf(call), { submitted, problem, action, name })
      }
    },
  }),
}

async function show(call: DocumentCall, refused: Refused | null) {
  const { service, document, mayWrite, account, csrfToken } = call
  const { id, title, tags, properties, workspace_id: workspaceId, knowledge_base_id: base } = document
  const known = mayWrite ? await tagPage(service.database, { workspaceId, id: base, after: '', limit: mostTags }) : []
  const ofTags = refused?.action === 'tags' ? refused : null
  // A property that is gone is in the form for a new property, with what was typed.
  const isThere = refused !== null && Object.hasOwn(properties, refused.name)
  const ofNew =
    refused !== null && (refused.action === 'add' || (refused.action !== 'tags' && !isThere)) ? refused : null
  const ofOne = refused !== null && ofTags === null && ofNew === null ? refused : null
  const html = propertiesView({
    title: `Tags and properties · ${title}`,
    account,
    csrfToken,
    document: { id, title },
    place: await placeOf(service.database, document),
    mayWrite,
    kinds,
    tags: {
      list: tags.map((tag) => ({ tag, isKept: ofTags === null || !removedTags(ofTags.submitted).includes(tag) })),
      known: known.slice(0, mostTags).map(({ tag }) => tag),
      add: ofTags === null ? '' : missingFrom(tags, addedTags(ofTags.submitted)).join(', '),
      state: stateOf(tags),
      problem: ofTags?.problem.message ?? null,
    },
    properties: Object.entries(properties).map(([name, value]) => {
      const typed = ofOne?.name === name && ofOne.action === 'set' ? ofOne.submitted.field('value') : null
      const now = writtenValue(value)
      return {
        name,
        kind: kindOf(value),
        value: typed ?? now,
        now,
        state: stateOf(value),
        isWritable: isWritable(value),
        problem: ofOne?.name === name ? ofOne.problem.message : null,
      }
    }),
    added: {
      name: ofNew?.name ?? '',
      kind: ofNew?.submitted.field('kind') || 'text',
      value: ofNew?.submitted.field('value') ?? '',
      state: stateOf(undefined),
      problem: ofNew?.problem.message ?? null,
    },
  })
  return { status: refused?.problem.status ?? 200, html }
}

function missingFrom(tags: readonly string[], typed: readonly string[]): string[] {
  return typed.filter((tag) => !tags.includes(tag))
}
