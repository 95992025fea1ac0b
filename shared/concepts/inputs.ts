import Type, { type Static } from 'typebox'
import { Refusal } from '../errors/errors.ts'
import { IntegerIdInput, Nullable, Version } from '../schema/identifiers.ts'
import { blockIdPattern } from '../schema/ids.ts'
import { Text, TrimmedText } from '../schema/strings.ts'
import { ConceptPredicate } from './schema.ts'

const name = TrimmedText({ min: 1, max: 200 })
const description = Nullable(Text({ max: 10_000 }))
const blockId = Type.String({ pattern: blockIdPattern, description: 'block id' })
const excerpt = Text({ max: 2000 })
// An instant in Unix milliseconds within the range of a JavaScript `Date`.
const instant = Type.Integer({ minimum: -8.64e15, maximum: 8.64e15, description: 'Unix milliseconds' })
const validity = { valid_from: Type.Optional(instant), valid_to: Type.Optional(instant) }
const aliasList = (options: object = {}) => Type.Array(name, { maxItems: 1000, ...options })

const LabelInput = Type.Object({
  locale: Type.String({ description: 'BCP 47' }),
  name,
  description: Type.Optional(description),
})
export type LabelInput = Static<typeof LabelInput>

const labelList = (description: string) => Type.Array(LabelInput, { maxItems: 1000, description })

const evidenceMembers = {
  document_id: Text(),
  block_id: Type.Optional(Nullable(blockId)),
  source_version: Type.Optional(Version),
  excerpt: Type.Optional(excerpt),
}
export type EvidenceInput = Static<typeof StatementEvidence>

const StatementEvidence = Type.Object(evidenceMembers)

/** Body of `POST /concepts/{id}/sources`. Without `source_version` the current version counts. */
export const ConceptEvidenceInput = Type.Object({ ...evidenceMembers, ...validity }, { $id: 'ConceptEvidenceInput' })
export type ConceptEvidenceInput = Static<typeof ConceptEvidenceInput>

/** Body of `POST /concepts`. The `source_*` members are one more piece of evidence, to which the validity applies. */
export const ConceptCreateInput = Type.Object(
  {
    knowledge_base_id: IntegerIdInput,
    name,
    description: Type.Optional(description),
    aliases: Type.Optional(aliasList()),
    labels: Type.Optional(labelList('one for each locale')),
    canonical_document_id: Type.Optional(Nullable(Text())),
    source_document_id: Type.Optional(Text()),
    source_block_id: Type.Optional(Nullable(blockId)),
    source_version: Type.Optional(Version),
    source_excerpt: Type.Optional(excerpt),
    sources: Type.Optional(Type.Array(ConceptEvidenceInput, { maxItems: 1000 })),
    ...validity,
  },
  { $id: 'ConceptCreateInput' },
)
export type ConceptCreateInput = Static<typeof ConceptCreateInput>

/** Body of `PATCH /concepts/{id}`. Absent members keep their values. */
export const ConceptUpdateInput = Type.Object(
  {
    name: Type.Optional(name),
    description: Type.Optional(description),
    aliases: Type.Optional(aliasList({ description: 'replaces the manual aliases' })),
    labels: Type.Optional(labelList('replaces the manual labels; one for each locale')),
    canonical_document_id: Type.Optional(Nullable(Text())),
    status: Type.Optional(Type.Enum(['active', 'archived'])),
  },
  { $id: 'ConceptUpdateInput' },
)
export type ConceptUpdateInput = Static<typeof ConceptUpdateInput>

const ObjectInput = Type.Object({
  kind: Type.Enum(['concept', 'document', 'block']),
  id: Text({ description: 'of a concept or, for the kinds document and block, of a document' }),
  block_id: Type.Optional(Nullable(blockId)),
})

/** Body of `POST /concepts/{id}/relations`. */
export const ConceptRelationInput = Type.Object(
  {
    predicate: ConceptPredicate,
    object: ObjectInput,
    evidence: Type.Optional(StatementEvidence),
    ...validity,
  },
  { $id: 'ConceptRelationInput' },
)
export type ConceptRelationInput = Static<typeof ConceptRelationInput>

/** Body of `POST /concepts/{id}/merge`. The target is guarded by `target_version` or by a second tag in If-Match. */
export const ConceptMergeInput = Type.Object(
  {
    target_concept_id: Text(),
    target_version: Type.Optional(Type.String({ description: 'concept:n of the target, as its ETag' })),
    reason: Type.Optional(Text({ max: 1000 })),
  },
  { $id: 'ConceptMergeInput' },
)

/**
 * The interval [valid_from, valid_to) in Unix milliseconds in which a statement is valid. An absent end means that
 * there is no bound on that side.
 */
export type ValidityInput = { valid_from?: number | undefined; valid_to?: number | undefined }

/**
 * Returns the validity as it is stored. Refuses with 400 `invalid_request` when the interval is empty; `path` is the
 * JSON pointer of the object that holds it.
 */
export function readValidity(input: ValidityInput, path = ''): { valid_from: number | null; valid_to: number | null } {
  const { valid_from = null, valid_to = null } = input
  if (valid_from === null || valid_to === null || valid_from < valid_to) return { valid_from, valid_to }
  const fields = [{ path: `${path}/valid_to`, message: 'must be later than valid_from' }]
  throw new Refusal('invalid_request', { details: { fields } })
}
