import Type, { type Static } from 'typebox'
import { Nullable, Time, UserId, Version } from '../schema/identifiers.ts'
import { blockIdPattern } from '../schema/ids.ts'
import { Text } from '../schema/strings.ts'
import { predicates } from './predicates.ts'
import { documentUriPattern } from './uri.ts'

/** A registered predicate. */
export const Predicate = Type.Enum([...predicates], { description: 'registered predicate' })

export const RelationType = Type.Object(
  {
    predicate: Predicate,
    description: Type.String(),
    inverse_label: Type.String({ description: 'how the relation reads from its target' }),
    origins: Type.Array(Type.Enum(['inline', 'manual'])),
  },
  { $id: 'RelationType' },
)

export const RelationCreateInput = Type.Object(
  {
    source_document_id: Text(),
    source_block_id: Type.String({ pattern: blockIdPattern }),
    target_uri: Type.String({
      pattern: documentUriPattern,
      description: '`svc://doc/<document id>`, with `#block=<block id>` for one of its blocks',
    }),
    predicate: Type.Optional(Type.Enum([...predicates], { default: 'refers_to' })),
    anchor_text: Type.Optional(Text({ max: 500 })),
  },
  { $id: 'RelationCreateInput' },
)
export type RelationCreateInput = Static<typeof RelationCreateInput>

const RelationEndpoint = Type.Object(
  {
    uri: Type.String(),
    document_id: Type.String(),
    block_id: Nullable(Type.String()),
    document: Nullable(Type.Object({ id: Type.String(), title: Type.String() })),
  },
  { $id: 'RelationEndpoint' },
)

const Freshness = Type.Enum(['current', 'stale'])

/** A relation as the API returns it (specification 2.9). */
export const DocumentRelation = Type.Object(
  {
    id: Type.String(),
    predicate: Predicate,
    origin: Type.Enum(['inline', 'manual']),
    source: RelationEndpoint,
    target: RelationEndpoint,
    anchor_text: Type.String(),
    source_version: Version,
    evidence_freshness: Freshness,
    projection_freshness: Freshness,
    status: Type.Enum([
      'valid',
      'dangling_source_document',
      'dangling_source_block',
      'dangling_target_document',
      'dangling_target_block',
    ]),
    created_at: Time,
    created_by: UserId,
  },
  { $id: 'DocumentRelation' },
)
export type DocumentRelation = Static<typeof DocumentRelation>
