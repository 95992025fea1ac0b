import { renderShared } from '../../../api/pages/share/shared-html.ts'
import { editText, hashBlock } from '../../../api/routes/body/block-write.ts'
import {
  type ReadRequest,
  renderBlocks,
  renderContent,
  renderOutline,
  renderOutlinePart,
  renderRead,
} from '../../../api/routes/body/body-views.ts'
import { BlockLines } from '../../../shared/body/block-lines.ts'
import { currentBlockHash, describeBlock } from '../../../shared/body/blocks.ts'
import { documentToLines } from '../../../shared/body/canonical.ts'
import { changeBody } from '../../../shared/body/change.ts'
import { writeBody } from '../../../shared/body/content.ts'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { applyBatch } from '../../../shared/body/edit.ts'
import { compareLines, manifestOf, manifestStep } from '../../../shared/body/manifest.ts'
import { exportSegments } from '../../../shared/body/markdown/to-markdown.ts'
import { normaliseDocument } from '../../../shared/body/normalise.ts'
import { plainText } from '../../../shared/body/text.ts'
import { editBody } from '../../../shared/body/text-edits/edit-texts.ts'
import type { TextEdit } from '../../../shared/body/text-edits/schema.ts'
import { cutUpdates } from '../../../shared/body/yjs/cut-updates.ts'
import { FollowingBody } from '../../../shared/body/yjs/following-body.ts'
import { deriveState, readState } from '../../../shared/body/yjs/state.ts'
import { growChain } from '../../../shared/changes/project.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { extractCandidates } from '../../../shared/concepts/candidates/extract.ts'
import { compareTexts } from '../../../shared/differences/compare.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { renderMarkdown } from '../../../shared/export/markdown.ts'
import { referencesOf, renamed } from '../../../shared/import/export-plan.ts'
import { computeMarkdown } from '../../../shared/localization/inline/compute.ts'
import { inlineMarkdown } from '../../../shared/localization/inline/markdown.ts'
import { structureOf, withAttributesOf, wordsOf } from '../../../shared/localization/inline/structure.ts'
import { withoutTags, withTags } from '../../../shared/localization/inline/tags.ts'
import { applyTexts } from '../../../shared/localization/jobs/apply-edit.ts'
import { textsOfUnits } from '../../../shared/localization/jobs/run.ts'
import { selectFrom } from '../../../shared/localization/jobs/select.ts'
import { copyStructure } from '../../../shared/localization/structure-copies.ts'
import { renderUnits } from '../../../shared/localization/units/list.ts'
import { alignByPosition, textsWithUnits } from '../../../shared/localization/units/prepare.ts'
import { mappingsTo, textsOfUnit } from '../../../shared/localization/units/review.ts'
import { changeSource, changeTarget } from '../../../shared/localization/units/sync.ts'
import { textBlocks } from '../../../shared/localization/units/texts.ts'
import { compareLinks } from '../../../shared/relations/extract.ts'
import { computeIndex } from '../../../shared/search/index/index-document.ts'
import { gatherMaterial } from '../../../shared/summaries/by-model/text-material.ts'
import { summariseDigest } from '../../../shared/summaries/deterministic.ts'
import { digestBodies, digestOf } from '../../../shared/summaries/digests.ts'
import { answerQuery } from '../../../shared/summaries/query-answer.ts'
import { summariseText } from '../../../shared/summaries/refresh.ts'
import { sectionOf } from '../../../shared/summaries/section.ts'
import { findSection } from '../../../shared/summaries/source.ts'
import { withoutIds } from '../../document/build.ts'
import type { Entry, Use } from '../entry.ts'

/** A body with what its readers start from. */
type Body = {
  document: DocNode
  lines: string[]
  text: string
  edited: DocNode
  firstId: string
  lastId: string
  /** The units of a translation whose blocks have the ids of the source, as JSON text. */
  units: string
}

/** What a JSON body becomes when it is written; refuses as the API does. */
export function bodyOf(content: unknown[]): Body {
  const document = normaliseDocument({ type: 'doc', content }, { from: 'json' }).result
  const lines = documentToLines(document)
  return {
    document,
    lines,
    text: lines.join('\n'),
    edited: editedOf(document),
    firstId: document.content[0]?.attrs.id ?? '',
    lastId: document.content.at(-1)?.attrs.id ?? '',
    units: JSON.stringify(textBlocks(document.content).map(({ id, hash }) => unitOf(id, hash))),
  }
}

/** Everything that reads a stored body. */
export const readers: Readonly<Record<string, (body: Body) => unknown>> = {
  normalise: ({ document }) => normaliseDocument(document, { from: 'json' }).nodes,
  'written as JSON': ({ document }) =>
    writeBody({ format: 'tiptap-json', content: JSON.stringify(document), storedText: null, ...writing }).text,
  'written as JSON without ids over the same body in reverse': ({ document, text }) =>
    writeBody({
      format: 'tiptap-json',
      content: withoutIds({ type: 'doc', content: document.content.toReversed() }),
      storedText: text,
      ...writing,
      ids: 'match',
    }).text,
  'Markdown with anchors': ({ text }) => renderContent({ text, format: 'markdown', anchors: true, ...frame }),
  'Markdown without anchors': ({ text }) => renderContent({ text, format: 'markdown', anchors: false, ...frame }),
  'Markdown segments': ({ document }) => exportSegments(document.content, { anchors: true }),
  HTML: ({ text }) => renderContent({ text, format: 'html', anchors: false, ...frame }),
  'a shared page': ({ text }) => renderShared({ text, path: '/s/shr_1' }),
  'Markdown of an export': ({ text }) =>
    renderMarkdown({ text, labels: { tags: ['tag'], properties: {} }, files: { x: 'y' } }),
  'plain text': ({ document }) => plainText(document),
  outline: ({ text }) => renderOutline({ text, ...frame }),
  'read as outline': ({ text }) => renderOutlinePart({ text, query: {}, ...frame }),
  blocks: ({ text }) => renderBlocks({ text, recursive: false, start: 0, ...page }),
  'blocks of all levels': ({ text }) => renderBlocks({ text, recursive: true, start: 0, ...page }),
  'the last blocks': ({ text, lines }) => renderBlocks({ text, recursive: true, start: lines.length - 1, ...page }),
  'a block': ({ lines, lastId }) => describeBlock(new BlockLines(lines), lastId),
  'read as Markdown': ({ text }) => renderRead({ text, request: partAs('markdown'), ...frame }),
  'read as JSON': ({ text }) => renderRead({ text, request: partAs('tiptap-json'), ...frame }),
  'read as plain text': ({ text }) => renderRead({ text, request: partAs('plain-text'), ...frame }),
  'insert a block': (body) => edit(body, { op: 'insert', input: insertAfter(body.lastId) }).text.length,
  'change a block': (body) => edit(body, { op: 'change', input: { attrs: {} } }).text.length,
  'find a block': ({ text, lastId }) => hashBlock({ text, blockId: lastId }),
  'a batch': ({ lines, document }) =>
    applyBatch(
      { lines, version: 'v' },
      document.content.slice(0, 100).map(({ attrs }) => ({ op: 'replace', block_id: attrs.id, node: paragraph('a') })),
    ).results.length,
  'replaced texts': ({ text, document }) =>
    editedByText(text, { op: 'replace', ...halfOf(document), occurrence: 'all', match_case: false }),
  'replaced letters': ({ text }) => editedByText(text, { op: 'replace', find: 'a', replace: 'b', occurrence: 'all' }),
  'a text that is not there': ({ text, document }) =>
    editedByText(text, { op: 'replace', find: `${halfOf(document).find}\u0001`, replace: '' }),
  'Markdown added to a section': ({ text, firstId }) =>
    editedByText(text, { op: 'append', markdown: 'a', section: firstId }),
  'hash of a block': ({ lines, lastId }) => currentBlockHash(new BlockLines(lines), lastId),
  manifest: ({ lines }) => manifestOf(lines),
  'changes to an edited body': ({ text, edited }) => changeBody({ from: text, to: textOf(edited) }).step.length,
  'units of an edited source': ({ text, edited }) => changeSource({ from: text, to: textOf(edited), targets: 2 }),
  'units of an edited target': ({ text, edited }) => changeTarget({ from: text, to: textOf(edited) }),
  'live state': ({ document }) => readState(deriveState(document)),
  'slices of a live state': ({ document }) => cutUpdates([deriveState(document)]).length,
  'edits of a live state': ({ document, lines, edited }) => {
    const body = atOnce(FollowingBody.open({ updates: [deriveState(document)], lines }))
    const updates = atOnce(body.follow(documentToLines(edited)))
    return [updates.length, atOnce(body.settle('doc_1@1')).repairs.length]
  },
  'search index': ({ text }) => computeIndex({ workspace_id: 'ws_1', document_id: 'doc_1' }, indexSource(text)),
  candidates: ({ text }) => extractCandidates({ documentId: 'doc_1', title: 'a', text }),
  relations: ({ text }) => compareLinks({ body: text, relations: [] }),
  summary: ({ lines }) => summariseDigest({ documentId: 'doc_1', title: 'a', digest: digestOf(lines) }),
  'summary of a section': ({ lines, firstId }) => sectionOf(lines, firstId),
  'digests of documents': ({ text }) => digestBodies({ texts: [text, text] }),
  'section as a source': ({ text, firstId }) => findSection({ text, blockId: firstId })?.text.length,
  'summary of a query': ({ lines }) =>
    answerQuery({ title: 'a', bodies: [{ id: 'doc_1', lines }], documentCount: 1, q: 'a "b a" word' }),
  'summaries of all sections': ({ text, lines, firstId }) =>
    summariseText({
      documentId: 'doc_1',
      version: 'v',
      title: 'a',
      text,
      blockIds: [null, firstId, ...headingIds(lines)],
    }),
  'material for a model': ({ text }) => gatherMaterial({ ...modelText, blockId: null, text }),
  'material of a section': ({ text, firstId }) => gatherMaterial({ ...modelText, blockId: firstId, text }),
  'growth of a chain of changes': ({ lines, edited }) =>
    growChain(chainOf(JSON.stringify(manifestStep(compareLines(lines, documentToLines(edited)))))),
  'difference of two bodies': (body) => difference(body, 'json'),
  'difference of two bodies as Markdown': (body) => difference(body, 'markdown'),
  'texts of units': ({ text, firstId }) => textsOfUnits({ text, units: [{ unit_id: 'u', source_block_id: firstId }] }),
  'units of a translation': ({ text, edited, units }) =>
    renderUnits({ ...pairOf({ text, edited, units }), pair: translation, after: 0, limit: 1000 }),
  'units for a job': ({ text, edited, units }) =>
    selectFrom({ ...pairOf({ text, edited, units }), unitIds: JSON.parse(units).map(({ id }: { id: string }) => id) }),
  'units that a preparation finds': ({ text }) => textsWithUnits({ text }),
  'units without blocks': ({ text, edited, units }) =>
    alignByPosition(pairOf({ text, edited, units: units.replaceAll(/"block_ids":\[[^\]]*\]/g, '"block_ids":[]') })),
  'a reviewed unit': ({ text, edited, units }) =>
    textsOfUnit({ ...pairOf({ text, edited, units: JSON.stringify(JSON.parse(units).slice(-1)) }) }),
  'blocks of a reviewed unit': ({ text, units }) =>
    mappingsTo({
      text,
      unitId: 'u',
      blockIds: JSON.parse(units).map((unit: { source_block_id: string }) => unit.source_block_id),
    }),
  'applied texts': ({ text, edited, units }) =>
    applyTexts({
      ...pairOf({ text, edited, units }),
      contents: JSON.parse(units)
        .slice(0, 100)
        .map(({ id }: { id: string }) => ({ unitId: id, content: [textNode('a')] })),
    }).text.length,
  'structure for a translation': ({ document }) => copyStructure(document).content.nodes,
  'texts for a translation': ({ document }) => textBlocks(document.content),
  'segments for a translation': ({ document }) => inlineMarkdown(inlineContents(document)),
  'segments that come back': ({ document }) => Promise.all(inlineContents(document).map(computeMarkdown)),
  'tags of a translation': ({ document }) =>
    inlineContents(document).map((content) => {
      const tagged = withTags(content, { all: true })
      return withoutTags(tagged.content, tagged)
    }),
  'structure of a translation': ({ document }) =>
    inlineContents(document).map((content) => [
      structureOf(content),
      wordsOf(content),
      withAttributesOf(content, content).length,
    ]),
  'references of an import': ({ document }) => referencesOf(document).documents.size,
  'ids of an import': ({ document }) =>
    renamed(document, { document: () => 'doc_2', attachment: () => undefined } as never).content.length,
}

// The members around what follows from a body, the limits of a write, and a page of a list.
const frame = { heading: {}, resolution: {} }
const writing = { path: '', anchors: true, characterLimit: Infinity, byteLimit: Infinity }
const page = { document: { id: 'doc_1', version: 'v' }, limit: 1000, maxBytes: 1_000_000 }

const modelText = { documentId: 'doc_1', version: 'v', title: 'a' }

const translation = {
  set: { id: 'docset_1', source_locale: 'en' },
  source: { id: 'doc_1', version: 'v' },
  target: { id: 'doc_2', version: 'v', locale: 'fr' },
} as Parameters<typeof renderUnits>[0]['pair']

function pairOf({ text, edited, units }: Pick<Body, 'text' | 'edited' | 'units'>) {
  return { source: text, target: textOf(edited), units }
}

function unitOf(id: string, hash: string) {
  const status = 'missing'
  return { id: `tu_${id}`, source_block_id: id, source_hash: hash, target_hash: hash, status, block_ids: [id] }
}

function headingIds(lines: readonly string[]): string[] {
  const headings = lines.filter((line) => line.endsWith('"type":"heading"}'))
  return headings.slice(0, 50).map((line) => JSON.parse(line).attrs.id)
}

function chainOf(step: string) {
  const source = {
    version: 'v',
    body_seq: 2,
    title: '',
    knowledge_base_id: 1,
    locale: null,
    chain: 1,
    projected_seq: 1,
    isPart: false,
  }
  return { ...source, manifests: [{ body_seq: 2, version: 'v', changed_at: 0, step }] }
}

/** Where in a body a text can stand. */
const places: Readonly<Record<string, (text: string) => unknown[]>> = {
  'a paragraph': (text) => [paragraph(text)],
  'a heading': (text) => [{ type: 'heading', attrs: { level: 1 }, content: [textNode(text)] }],
  'a heading above others': (text) => [
    { type: 'heading', attrs: { level: 1 }, content: [textNode(text)] },
    ...Array.from({ length: Math.min(2000, text.length / 16) }, () => ({
      type: 'heading',
      attrs: { level: 2 },
      content: [textNode('a')],
    })),
  ],
  'a code block': (text) => [{ type: 'codeBlock', attrs: { language: text }, content: [textNode(text)] }],
  'raw HTML': (text) => [{ type: 'htmlBlock', attrs: { html: text } }],
  'raw HTML before a paragraph': (text) => [{ type: 'htmlBlock', attrs: { html: text } }, paragraph('a')],
  'raw HTML in a paragraph': (text) => [
    { type: 'paragraph', content: [textNode('a'), { type: 'htmlInline', attrs: { html: text } }, textNode('b')] },
  ],
  'raw HTML in small pieces': (text) => [
    { type: 'paragraph', content: piecesOf(text).map((html) => ({ type: 'htmlInline', attrs: { html } })) },
  ],
  'the address of a link': (text) => [linked({ href: `/${text}`, title: text })],
  'the text of links': (text) => [
    {
      type: 'paragraph',
      content: piecesOf(text).map((piece, index) =>
        textNode(piece, [{ type: 'link', attrs: { href: `svc://doc/doc_${index}` } }]),
      ),
    },
  ],
  'texts of many marks': (text) => [
    { type: 'paragraph', content: piecesOf(text).map((piece, index) => textNode(piece, marksOf(index))) },
  ],
  'lines of many marks': (text) => [
    {
      type: 'paragraph',
      content: piecesOf(text).flatMap((piece, index) => [
        textNode(piece, marksOf(index)),
        { type: 'hardBreak', marks: marksOf(63) },
      ]),
    },
  ],
  'the text of an image': (text) => [{ type: 'image', attrs: { src: `/${text}`, alt: text, title: text } }],
  'the text of an image in a line': (text) => [
    { type: 'paragraph', content: [{ type: 'inlineImage', attrs: { src: 'b', alt: text, title: text } }] },
  ],
  'a formula': (text) => [
    { type: 'blockMath', attrs: { latex: text } },
    { type: 'paragraph', content: [{ type: 'inlineMath', attrs: { latex: text } }] },
  ],
  'the label of a footnote': (text) => [
    { type: 'paragraph', content: [{ type: 'footnoteReference', attrs: { label: text } }] },
    { type: 'footnoteDefinition', attrs: { label: text }, content: [paragraph('a')] },
  ],
  'the name of a mention': (text) => [
    { type: 'paragraph', content: [{ type: 'mention', attrs: { id: text, label: text } }] },
  ],
  'the summary of details': (text) => [
    {
      type: 'details',
      content: [
        { type: 'detailsSummary', content: [textNode(text)] },
        { type: 'detailsContent', content: [paragraph(text)] },
      ],
    },
  ],
  'a cell of a table': (text) => [
    { type: 'table', content: [{ type: 'tableRow', content: [{ type: 'tableCell', content: [paragraph(text)] }] }] },
  ],
  frontmatter: (text) => [{ type: 'frontmatter', attrs: { yaml: text } }, paragraph('a')],
  'a callout': (text) => [{ type: 'callout', attrs: { kind: 'note' }, content: [paragraph(text)] }],
  'an item of a list': (text) => [
    { type: 'taskList', content: [{ type: 'taskItem', attrs: { checked: true }, content: [paragraph(text)] }] },
  ],
  'many paragraphs': (text) => piecesOf(text).map((piece) => paragraph(piece)),
  'many pieces of raw HTML': (text) => piecesOf(text).map((html) => ({ type: 'htmlBlock', attrs: { html } })),
}

/** A text at each place of a body, with everything that reads the body. */
export const documentEntries: readonly Entry[] = Object.entries(places).map(([place, content]) => ({
  name: `a text as ${place}`,
  input: (text) => bodyOf(content(text)),
  uses: readers as Readonly<Record<string, Use>>,
}))

function edit({ text, lastId }: Body, { op, input }: { op: 'insert' | 'change'; input: object }) {
  const document = { text, version: 'sha256:0', documentId: 'doc_1' }
  return editText({ ...document, op, blockId: lastId, input: JSON.stringify(input) })
}

function editedByText(text: string, edit: TextEdit): number {
  const limits = { characterLimit: Infinity, byteLimit: Infinity }
  try {
    return editBody({ text, version: 'sha256:0', edits: [edit], limits }).text.length
  } catch (error) {
    if (error instanceof Refusal && ['text_not_found', 'section_not_found'].includes(error.code)) return 0
    throw error
  }
}

/** The first half of the first text, which fits nearly everywhere in a repetitive text, and its replacement. */
function halfOf(document: DocNode): { find: string; replace: string } {
  const text = plainText(document).split('\n')[0] ?? ''
  const half = text.slice(0, Math.min(2000, Math.ceil(text.length / 2)))
  return { find: half.toWellFormed() || 'a', replace: half.length % 2 === 0 ? '' : 'b' }
}

function insertAfter(blockId: string) {
  return { position: { after_block_id: blockId }, nodes: [paragraph('a')] }
}

function textOf(document: DocNode): string {
  return documentToLines(document).join('\n')
}

function partAs(view: ReadRequest['view']): ReadRequest {
  return { endpoint: 'e', params: { id: 'doc_1' }, query: { max_tokens: 50_000 }, view, version: 'v' }
}

function indexSource(body: string) {
  const source = { title: 'a', version: 'v', body, body_seq: 1, projected_seq: null, blocks: [], locale: null }
  return source as unknown as Parameters<typeof computeIndex>[1]
}

// Every second block is another, the last is the first, and each text is one letter longer.
function editedOf(document: DocNode): DocNode {
  const [first, ...others] = document.content
  const moved = first === undefined ? others : [...others, first]
  const blocks = moved.map((block, index) => (index % 2 === 0 ? block : (lengthened(block) as typeof block)))
  return { type: 'doc', content: blocks }
}

function lengthened(node: BodyNode): BodyNode {
  if (node.type === 'text') return { ...node, text: `${node.text}a` }
  return node.content === undefined ? node : { ...node, content: node.content.map(lengthened) }
}

function inlineContents(document: DocNode): BodyNode[][] {
  return document.content.flatMap((block) =>
    block.type === 'paragraph' || block.type === 'heading' ? [block.content ?? []] : [],
  )
}

function paragraph(text: string): BodyNode {
  return { type: 'paragraph', content: text === '' ? [] : [textNode(text)] }
}

function textNode(text: string, marks?: BodyNode['marks']): BodyNode {
  return { type: 'text', text, ...(marks && { marks }) }
}

function linked(attrs: { href: string; title: string }): BodyNode {
  return { type: 'paragraph', content: [textNode('a', [{ type: 'link', attrs }])] }
}

const plainMarks = ['bold', 'italic', 'strike', 'underline', 'subscript', 'highlight']

/** A set of marks for each number up to 63. */
function marksOf(number: number): { type: string }[] {
  return plainMarks.filter((_, bit) => (number >> bit) & 1).map((type) => ({ type }))
}

/** A text cut into pieces of eight units, no surrogate pair in two. */
function piecesOf(text: string): string[] {
  return text.match(/.{1,8}/gsu) ?? [text]
}

function difference({ text, edited }: Body, format: 'json' | 'markdown'): string {
  const side = { seq: 'current' as const, version: 'v' }
  const heading = { document_id: 'doc_1', from: side, to: side }
  return compareTexts({ from: text, to: documentToLines(edited).join('\n'), heading, format, roomForWords: Infinity })
}
