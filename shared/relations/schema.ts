import Type, { type Static } from 'typebox'
import { Nullable, Time, UserId, Version } from '../schema/identifiers.ts'
import { blockIdPattern, documentIdPattern } from '../schema/ids.ts'
import { Text } from '../schema/strings.ts'

/** The registered predicates: what they say about source and target, and which origins they may have. */
export const relationTypes = [
  {
    predicate: 'refers_to',
    description: 'The source mentions or links to the target.',
    inverse_label: 'referred to by',
    origins: ['inline', 'manual'],
  },
  {
    predicate: 'supports',
    description: 'The source gives evidence for the target.',
    inverse_label: 'supported by',
    origins: ['manual'],
  },
  {
    predicate: 'depends_on',
    description: 'The source presumes the target.',
    inverse_label: 'required by',
    origins: ['manual'],
  },
  {
    predicate: 'contradicts',
    description: 'The source says the opposite of the target.',
    inverse_label: 'contradicted by',
    origins: ['manual'],
  },
] as const

/** A registered predicate. */
export type Predicate = (typeof relationTypes)[number]['predicate']

/** Every registered predicate. */
export const predicates: readonly Predicate[] = relationTypes.map(({ predicate }) => predicate)

const documentId = documentIdPattern.slice(1, -1)
const blockId = blockIdPattern.slice(1, -1)

// The pattern of the address of a document or of one of its blocks.
const documentUriPattern = `^svc://doc/${documentId}(#block=${blockId})?$`

const documentUri = new RegExp(`^svc://doc/(${documentId})(?:#block=(${blockId}))?$`)

/** Returns the document and block that an address names; null when the text is no address of a document or block. */
export function parseDocumentUri(uri: string): { documentId: string; blockId: string | null } | null {
  const match = documentUri.exec(uri)
  return match?.[1] === undefined ? null : { documentId: match[1], blockId: match[2] ?? null }
}

/** Returns the address of a block of a document. */
export function blockUri(end: { documentId: string; blockId: string }): string {
  return `svc://doc/${end.documentId}#block=${end.blockId}`
}

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

/** A relation as the API returns it. */
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
