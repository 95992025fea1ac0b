import {
  joinMarkdown,
  type MarkdownBlock,
  type MarkdownParts,
  readAlike,
  repeatsAnchor,
  splitMarkdown,
  withoutRepeatedAnchors,
} from './blocks.ts'
import { bodyOf, type FileParts, keptEntries, readFileText, writeFileText } from './file-text.ts'
import { areSameLabels, type Labels, type MergedLabels, mergeLabels } from './labels.ts'
import { type BlockConflict, type Merge, mergeParts } from './merge.ts'
import { tellsTitle, titleOfPath } from './paths.ts'
import type { RemoteDocument } from './sides.ts'

/** A document with its body as Markdown with anchors, and the path of its file. */
export type WholeDocument = { document: RemoteDocument; body: string; path: string }

/** What a merge of a file and its document needs. `base` is null if no common state is known. */
export type DocumentMergeInput = {
  base: WholeDocument | null
  mine: { text: string; path: string }
  theirs: WholeDocument
  /** Whether the document was made from the file, by a sync that was killed then. */
  isCreated: boolean
  /** Returns the text as the service would write it. */
  rehearse: (markdown: string) => Promise<string>
}

/**
 * The result: labels and body for both sides. If there are conflicts, `copy` is the text of a file with the own version
 * in place of each conflict. Otherwise it is null. `isMine` says that the file has all of the result already.
 */
export type DocumentMerge = {
  labels: MergedLabels
  body: string
  conflicts: BlockConflict[]
  copy: string | null
  isMine: boolean
}

/** The front matter of a file was valid and is no mapping of YAML any more, so it does not tell what should change. */
export class BrokenFrontMatter extends Error {}

/**
 * Merges a file with its document. Only what differs from the base counts as a change of a side, so formatting that a
 * round trip changes is no change. If both have changed the body, the file is first brought into the form in which the
 * service writes Markdown.
 */
export async function mergeDocument(input: DocumentMergeInput): Promise<DocumentMerge> {
  const { base, mine, theirs, isCreated } = input
  const known = base ?? theirs
  const kept = keptEntries(known.body, known.document)
  const read = (whole: WholeDocument) => readFileText(writeFileText(whole.document, whole), kept)
  const parts = { mine: readFileText(mine.text, kept), base: base && read(base), theirs: read(theirs) }
  if (parts.mine.frontMatter !== null && !parts.mine.isMapping && (parts.base ?? parts.theirs).isMapping) {
    throw new BrokenFrontMatter('the front matter is no mapping of YAML')
  }
  const named = labelsOf(withFrontMatter(parts.mine, parts.base), mine.path)
  // The name of a file cannot have every title. A file that was never synced says nothing against the title it is from.
  const isOnlyName = base === null && parts.mine.title === null
  const isTheirTitle = isOnlyName && (isCreated || tellsTitle(mine.path, theirs.document))
  const mineLabels = isTheirTitle ? { ...named, title: theirs.document.title } : named
  const labels = mergeLabels({
    base: base && parts.base && labelsOf(parts.base, base.path),
    mine: mineLabels,
    theirs: theirs.document,
  })
  const own = withoutRepeatedAnchors(bodyOf({ ...parts.mine, frontMatter: ownFrontMatter(parts, known.body) }))
  let canonical = own
  const rehearse = async (markdown: string) => {
    canonical = await input.rehearse(markdown)
    return canonical
  }
  const { merged, mine: disputed, conflicts } = await mergeBodies({ ...input, rehearse }, own)
  const hasConflicts = conflicts.length > 0 || labels.conflicts.length > 0
  const ownLabels = hasConflicts ? { ...theirs.document, ...labels, ...mineLabels } : null
  const copy = ownLabels && writeFileText(ownLabels, { body: disputed, path: mine.path })
  const isMine = readAlike(merged, canonical) && areSameLabels(labels, named)
  return { labels, body: merged, conflicts, copy, isMine }
}

/** True if two bodies are the same apart from the words behind the ids of anchors, and from empty lines. */
export function isSameBody(one: string, other: string): boolean {
  return joinMarkdown(splitMarkdown(one)) === joinMarkdown(splitMarkdown(other))
}

function labelsOf({ title, tags, properties }: FileParts, path: string): Labels {
  return { title: title ?? titleOfPath(path), tags, properties }
}

// A file without front matter says nothing about tags, properties and a title that its name does not tell.
function withFrontMatter(mine: FileParts, base: FileParts | null): FileParts {
  if (mine.frontMatter !== null || mine.isMapping || base === null) return mine
  return { ...mine, title: base.title, tags: base.tags, properties: base.properties }
}

// The front matter of the body as the file has it. If the file has not changed it, it is word for word as in the known
// body.
function ownFrontMatter(parts: { mine: FileParts; base: FileParts | null; theirs: FileParts }, known: string) {
  const before = parts.base ?? parts.theirs
  if (parts.mine.frontMatter === before.frontMatter) return splitMarkdown(known).frontMatter
  return parts.mine.frontMatter
}

type BodyMergeInput = {
  base: { body: string } | null
  theirs: { body: string }
  /** Returns the text as the service would write it. */
  rehearse: (markdown: string) => Promise<string>
}

/**
 * Merges two changed bodies block by block. `base` and `theirs` are Markdown as the service writes it with anchors.
 * `own` is what a person has written: where both sides have changed, it is first brought into the form of the service.
 */
export async function mergeBodies({ base, theirs, rehearse }: BodyMergeInput, own: string): Promise<Merge> {
  const without = (merged: string): Merge => ({ merged, mine: merged, conflicts: [] })
  if (isSameBody(own, theirs.body)) return without(theirs.body)
  if (base !== null && isSameBody(own, base.body)) return without(theirs.body)
  const isOnlyMine = base !== null && isSameBody(base.body, theirs.body)
  if (isOnlyMine && hasAllAnchors(own, base.body)) return without(own)
  if (base === null && !sharesAnchors(own, theirs.body)) return compareWhole(own, { theirs: theirs.body, rehearse })
  const canonical = await rehearse(own)
  const mine = identified(canonical, { own, known: [base?.body ?? '', theirs.body] })
  const merge = mergeParts({ base: splitMarkdown(base?.body ?? ''), mine, theirs: splitMarkdown(theirs.body) })
  // Where this client and the service disagree about what an anchor is, the merge may have an anchor twice.
  if (!repeatsAnchor(merge.merged) || repeatsAnchor(theirs.body)) return merge
  return {
    merged: theirs.body,
    mine: own,
    conflicts: [{ block_id: 'document', base: null, mine: own, theirs: theirs.body }],
  }
}

// Texts without a common block are not mixed: either they say the same, or the own text is kept beside the other.
async function compareWhole(
  own: string,
  { theirs, rehearse }: { theirs: string; rehearse: (markdown: string) => Promise<string> },
): Promise<Merge> {
  const isSame = readAlike(own, theirs) || readAlike(await rehearse(own), theirs)
  const conflict = { block_id: 'document', base: null, mine: own, theirs }
  return { merged: theirs, mine: isSame ? theirs : own, conflicts: isSame ? [] : [conflict] }
}

/**
 * The text with the ids that its blocks have in known texts. A block whose anchor was lost is recognised by its text.
 * An id that the service has given to a new block in the rehearsal alone is left out.
 */
function identified(canonical: string, { own, known }: { own: string; known: string[] }): MarkdownParts {
  const { frontMatter, blocks } = splitMarkdown(canonical)
  const ids = new Set([own, ...known].flatMap((text) => splitMarkdown(text).blocks.map(({ id }) => id)))
  const present = new Set(blocks.map(({ id }) => id))
  const lost = new Map<string, string[]>()
  for (const { id, text } of splitMarkdown(known[0] ?? '').blocks) {
    if (id === null || present.has(id) || text === '') continue
    const same = lost.get(text)
    if (same === undefined) lost.set(text, [id])
    else same.push(id)
  }
  const named = blocks.map(({ id, text }): MarkdownBlock => {
    return { id: ids.has(id) ? id : (lost.get(text)?.shift() ?? null), text }
  })
  return { frontMatter, blocks: named }
}

function hasAllAnchors(text: string, base: string): boolean {
  const ids = new Set(splitMarkdown(text).blocks.map(({ id }) => id))
  return splitMarkdown(base).blocks.every(({ id }) => ids.has(id))
}

function sharesAnchors(one: string, other: string): boolean {
  const ids = new Set(splitMarkdown(one).blocks.flatMap(({ id }) => id ?? []))
  return splitMarkdown(other).blocks.some(({ id }) => id !== null && ids.has(id))
}
