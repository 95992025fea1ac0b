import { type Static, Type } from 'typebox'
import { ConceptCandidate, type Extraction as ExtractionShape } from '../../../shared/concepts/candidates/schema.ts'
import {
  type Concept,
  ConceptPredicate,
  ConceptSummary,
  type ConceptWithRelation,
} from '../../../shared/concepts/schema.ts'
import { cutText } from '../../../shared/schema/strings.ts'
import { exactlyOne, needed } from '../arguments.ts'
import { shortName } from '../budget.ts'
import { type Door, ifMatch } from '../door.ts'
import { cursor, furtherOnes, NextCursor, pageLength } from '../paging.ts'
import { oneLine } from '../results.ts'
import { type ToolAnswer, tool } from '../tool.ts'

const Input = Type.Object({
  action: Type.Enum(['find', 'propose', 'accept', 'relate']),
  knowledge_base_id: Type.Optional(Type.Integer({ description: 'find; propose: list open proposals' })),
  query: Type.Optional(Type.String({ description: 'find: part of a name or alias' })),
  concept_id: Type.Optional(
    Type.String({ description: 'find: one with its relations; accept: as its alias; relate: subject' }),
  ),
  document_id: Type.Optional(Type.String({ description: 'find: as evidence; propose: from its text; relate: object' })),
  block_id: Type.Optional(Type.String({ description: 'relate: in document_id' })),
  other_concept_id: Type.Optional(Type.String({ description: 'relate: object' })),
  predicate: Type.Optional(ConceptPredicate),
  candidate_id: Type.Optional(Type.String({ description: 'accept' })),
  version: Type.Optional(Type.String({ description: 'accept: of the proposal; relate: of the concept' })),
  cursor,
})
type Input = Static<typeof Input>
type Extraction = Static<typeof ExtractionShape>

const { id, name, aliases, description, version } = ConceptSummary.properties
const ShownConcept = Type.Object({ id, name, aliases, description, version })
type ShownConcept = Static<typeof ShownConcept>

const { document_id, excerpt, suggested_concept_id } = ConceptCandidate.properties
const ShownCandidate = Type.Object({
  id,
  name,
  version: ConceptCandidate.properties.version,
  document_id,
  excerpt,
  freshness: Type.String(),
  suggested_concept_id,
})
type ShownCandidate = Static<typeof ShownCandidate>

const ShownRelation = Type.Object({ predicate: Type.String(), object: Type.String(), freshness: Type.String() })

const Output = Type.Object({
  concepts: Type.Optional(Type.Array(ShownConcept)),
  candidates: Type.Optional(Type.Array(ShownCandidate)),
  relations: Type.Optional(Type.Array(ShownRelation)),
  next_cursor: NextCursor,
})
type Answer = ToolAnswer<Static<typeof Output>>

/** Finds the concepts of a knowledge base, proposes new ones from documents, accepts proposals and relates concepts. */
export const concepts = tool({
  name: 'concepts',
  title: 'Concepts',
  description:
    'The vocabulary of a knowledge base. find concepts; propose terms of a document; accept a proposal as a new concept or an alias; relate a concept to a concept, document or block.',
  input: Input,
  output: Output,
  readOnly: false,
  async run(args, { door }) {
    if (args.action === 'accept') return accept(door, args)
    if (args.action === 'relate') return relate(door, args)
    if (args.action === 'find') return args.concept_id === undefined ? find(door, args) : findOne(door, args.concept_id)
    return args.document_id === undefined ? openProposals(door, args) : propose(door, args.document_id)
  },
})

async function find(door: Door, args: Input): Promise<Answer> {
  const { knowledge_base_id } = needed(args, { names: ['knowledge_base_id'], when: 'to find concepts' })
  const { query: q, document_id, cursor } = args
  const query = { knowledge_base_id, q, document_id, cursor, limit: pageLength }
  const { data, page } = await door<ConceptSummary[]>({ operationId: 'listConcepts', query })
  const concepts = data.map(shownConcept)
  return {
    structured: { concepts, next_cursor: page?.next_cursor ?? null },
    summary: `${concepts.length} concepts${furtherOnes(page)}.`,
    untrusted: concepts.map(conceptLine).join('\n'),
  }
}

async function findOne(door: Door, id: string): Promise<Answer> {
  const { data } = await door<Concept>({ operationId: 'getConcept', params: { id } })
  return conceptAnswer(data, `Concept ${data.id} (${data.status}), version ${data.version}.`)
}

async function openProposals(door: Door, args: Input): Promise<Answer> {
  const when = 'to list proposals, or document_id to look for terms in a document'
  const { knowledge_base_id } = needed(args, { names: ['knowledge_base_id'], when })
  const query = { knowledge_base_id, cursor: args.cursor, limit: pageLength }
  const { data, page } = await door<ConceptCandidate[]>({ operationId: 'listConceptCandidates', query })
  return proposalsAnswer(data, { summary: `${data.length} open proposals${furtherOnes(page)}.`, page })
}

async function propose(door: Door, document_id: string): Promise<Answer> {
  const { data } = await door<Extraction>({ operationId: 'extractConceptCandidates', body: { document_id } })
  const found = data.candidates.length
  const cut = found > pageLength ? ` The first ${pageLength} are shown; accept or list the rest as open proposals.` : ''
  const reviewed = data.skipped_accepted + data.skipped_rejected
  const summary = `${found} proposals from ${document_id}; ${reviewed} terms were reviewed before.${cut}`
  return proposalsAnswer(data.candidates.slice(0, pageLength), { summary, page: null })
}

function proposalsAnswer(
  proposals: readonly ConceptCandidate[],
  { summary, page }: { summary: string; page: { next_cursor: string | null } | null },
): Answer {
  const candidates = proposals.map(shownCandidate)
  return {
    structured: { candidates, next_cursor: page?.next_cursor ?? null },
    summary,
    untrusted: candidates.map(candidateLine).join('\n'),
  }
}

async function accept(door: Door, args: Input): Promise<Answer> {
  const { candidate_id: id, version } = needed(args, { names: ['candidate_id', 'version'], when: 'to accept' })
  const { data } = await door<{ concept: Concept }>({
    operationId: 'acceptConceptCandidate',
    params: { id },
    headers: ifMatch(version),
    body: { concept_id: args.concept_id },
  })
  return conceptAnswer(data.concept, `Accepted ${id} as ${data.concept.id}, version ${data.concept.version}.`)
}

async function relate(door: Door, args: Input): Promise<Answer> {
  const names = ['concept_id', 'version', 'predicate'] as const
  const { concept_id: id, version, predicate } = needed(args, { names, when: 'to relate' })
  const { data } = await door<ConceptWithRelation>({
    operationId: 'addConceptRelation',
    params: { id },
    headers: ifMatch(version),
    body: { predicate, object: objectOf(args) },
  })
  return conceptAnswer(data, `Related ${id}; its version is now ${data.version}.`)
}

function objectOf(args: Input): object {
  const { other_concept_id, document_id: id, block_id } = args
  if (exactlyOne(args, ['other_concept_id', 'document_id']) === 'other_concept_id')
    return { kind: 'concept', id: other_concept_id }
  return block_id === undefined ? { kind: 'document', id } : { kind: 'block', id, block_id }
}

// The most characters of a description or excerpt, which can have thousands.
const longestExcerpt = 300

// The most relations of one concept in an answer. A concept can have thousands.
const mostRelations = 50

function conceptAnswer(concept: Concept, summary: string): Answer {
  const relations = concept.relations.slice(0, mostRelations).map(({ predicate, object, evidence }) => ({
    predicate,
    object: object.uri,
    freshness: evidence?.freshness ?? 'current',
  }))
  const cut = relations.length < concept.relations.length ? ` The first ${mostRelations} are shown.` : ''
  const shown = shownConcept(concept)
  const lines = relations.map(({ predicate, object, freshness }) => `  ${predicate} ${object} (${freshness})`)
  return {
    structured: { concepts: [shown], relations, next_cursor: null },
    summary: `${summary} ${concept.relations.length} relations.${cut}`,
    untrusted: [conceptLine(shown), ...lines].join('\n'),
  }
}

function shownConcept({ id, name, aliases, description, version }: ConceptSummary): ShownConcept {
  return {
    id,
    name: shortName(name),
    aliases: aliases.slice(0, 10).map(shortName),
    description: description && cutText(description, longestExcerpt),
    version,
  }
}

function shownCandidate(candidate: ConceptCandidate): ShownCandidate {
  const { id, name, version, document_id, excerpt, freshness, suggested_concept_id } = candidate
  return {
    id,
    name: shortName(name),
    version,
    document_id,
    excerpt: cutText(excerpt, longestExcerpt),
    freshness,
    suggested_concept_id,
  }
}

function conceptLine({ id, version, name, aliases, description }: ShownConcept): string {
  const also = aliases.length === 0 ? '' : `, also ${aliases.join(', ')}`
  return `${id} (${version}): ${oneLine(name + also + (description === null ? '' : `: ${description}`))}`
}

function candidateLine({ id, version, name, document_id, excerpt, freshness, ...more }: ShownCandidate): string {
  const known = more.suggested_concept_id === null ? '' : `, like ${more.suggested_concept_id}`
  return `${id} (${version}, ${freshness}${known}): ${oneLine(`${name}, from ${document_id}: ${excerpt}`)}`
}
