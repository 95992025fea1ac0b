import Type, { type Static } from 'typebox'
import { DocumentRead, readViews } from '../body/schema.ts'
import { DocumentIds, mostNamedDocuments } from '../documents/schema.ts'

/** The tokens that one document of an answer gets: at least, by default, and at most. */
export const tokensOfOne = { least: 64, usual: 4000, most: 50_000 } as const

/** Body of `POST /documents/read`. */
export const DocumentsReadInput = Type.Object(
  {
    ids: DocumentIds,
    view: Type.Optional(Type.Enum([...readViews], { default: 'markdown' })),
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: tokensOfOne.least,
        maximum: mostNamedDocuments * tokensOfOne.usual,
        description: `of the whole answer; each document has an even share, ${tokensOfOne.least} to ${tokensOfOne.most}; by default ${tokensOfOne.usual} for each document`,
      }),
    ),
  },
  { $id: 'DocumentsReadInput' },
)

const State = ['current', 'stale', 'missing'] as const

/** How the results that are derived from a document relate to its present version. */
export const Freshness = Type.Object(
  {
    search: Type.Enum([...State]),
    changes: Type.Enum([...State]),
    relations: Type.Enum([...State], { description: 'of inline relations' }),
    summary: Type.Enum([...State], { description: 'of the stored summary of the document' }),
  },
  {
    $id: 'Freshness',
    description:
      '`current`: derived from this version; `stale`: from an older version; `missing`: there is nothing yet',
  },
)
export type Freshness = Static<typeof Freshness>

const ReadDocument = Type.Object(
  { id: Type.String(), ...DocumentRead.properties, freshness: Freshness },
  { $id: 'ReadDocument', description: 'A document, as far as its share of the tokens goes' },
)

const UnreadDocument = Type.Object(
  { id: Type.String(), error: Type.Object({ code: Type.String(), message: Type.String() }) },
  { $id: 'UnreadDocument', description: 'A document that is missing, or takes too much to be computed' },
)

/** Answer of `POST /documents/read`. */
export const DocumentsRead = Type.Array(Type.Union([ReadDocument, UnreadDocument]), {
  maxItems: mostNamedDocuments,
  description: 'each document once, in the order of the request',
})
