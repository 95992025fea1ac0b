import { joinMarkdown, type MarkdownBlock, type MarkdownParts, splitMarkdown, trimmedLines } from './blocks.ts'

/**
 * A block that both sides have changed in different ways. `block_id` is `frontmatter` for the lines of YAML at the
 * beginning. `base` is null if the common state does not have the block.
 */
export type BlockConflict = { block_id: string; base: string | null; mine: string; theirs: string }

/**
 * The result of a merge, as Markdown with anchors. `merged` has the changes of both sides, and in each conflict the
 * block of `theirs`. `mine` is the same text with the own block in each conflict.
 */
export type Merge = { merged: string; mine: string; conflicts: BlockConflict[] }

/** The three texts of a merge, as Markdown with anchors. `base` is null if no common state is known. */
export type MergeInput = { base: string | null; mine: string; theirs: string }

/**
 * Merges two changed versions of a text block by block. Changes of different blocks are both kept, and so are all new
 * blocks. A block that one side has deleted and the other side has changed is kept as changed. Text without an anchor
 * is new, and stays behind the block above it. Where both sides have moved blocks, the order of `theirs` counts.
 *
 * No text of either side is lost: it is in `merged`, or it is `mine` of a conflict. The exception is a block that one
 * side has deleted and the other side has left as it was.
 *
 * @internal
 */
export function mergeMarkdown({ base, mine, theirs }: MergeInput): Merge {
  return mergeParts({ base: splitMarkdown(base ?? ''), mine: splitMarkdown(mine), theirs: splitMarkdown(theirs) })
}

/** As `mergeMarkdown`, for texts that are split already. */
export function mergeParts({ base, mine, theirs }: Record<'base' | 'mine' | 'theirs', MarkdownParts>): Merge {
  const known = new Map(base.blocks.map(({ id, text }) => [id, text]))
  const sides: Sides = {
    base: sideOf(base.blocks, known),
    mine: sideOf(mine.blocks, known),
    theirs: sideOf(theirs.blocks, known),
  }
  dropRepeatedText(sides)
  const frontMatter = mergeVersions('frontmatter', {
    base: base.frontMatter,
    mine: mine.frontMatter,
    theirs: theirs.frontMatter,
  })
  const merges = [...new Set([...sides.theirs.texts.keys(), ...sides.mine.texts.keys()])].map((id) => {
    const versionOf = (side: Side) => side.texts.get(id) ?? null
    const versions = { base: versionOf(sides.base), mine: versionOf(sides.mine), theirs: versionOf(sides.theirs) }
    return [id, mergeVersions(id, versions)] as const
  })
  const kept = new Map(merges.filter(([, { text }]) => text !== null))
  for (const side of [sides.mine, sides.theirs]) keepLoose(side, kept)
  const order = orderOf(sides, kept)
  const write = (textOf: (merge: MergedVersions) => string | null) =>
    joinMarkdown({
      frontMatter: textOf(frontMatter),
      blocks: order.flatMap((id) => {
        const merge = id === null ? undefined : kept.get(id)
        const own: MarkdownBlock[] = merge === undefined ? [] : [{ id, text: textOf(merge) ?? '' }]
        return [...own, ...looseText(sides, id)]
      }),
    })
  return {
    merged: write(({ text }) => text),
    mine: write(({ text, conflict }) => conflict?.mine ?? text),
    conflicts: [frontMatter, ...kept.values()].flatMap(({ conflict }) => conflict ?? []),
  }
}

// A text of a merge: the texts of its blocks in their order, and the text without an anchor by the block above it. The
// id of that block is null at the beginning.
type Side = { texts: Map<string, string>; loose: Map<string | null, string[]> }
type Sides = { base: Side; mine: Side; theirs: Side }

// Text that was written above or below the unchanged text of a known block is new, and no change of that block.
// Indented text is not new: it belongs to the list item or footnote above it.
function sideOf(blocks: readonly MarkdownBlock[], known: ReadonlyMap<string | null, string>): Side {
  const side: Side = { texts: new Map(), loose: new Map() }
  let above: string | null = null
  for (const { id, text } of blocks) {
    const old = (id === null ? undefined : known.get(id)) || undefined
    const isBefore = old !== undefined && text.startsWith(`${old}\n\n`) && /^\n+\S/.test(text.slice(old.length))
    const isBehind = old !== undefined && text.endsWith(`\n\n${old}`) && /^\S/.test(old)
    if (!isBefore && isBehind) addLoose(side, above, trimmedLines(text.slice(0, -old.length).split('\n')))
    if (id !== null) side.texts.set(id, isBefore || isBehind ? old : text)
    above = id ?? above
    if (isBefore) addLoose(side, above, trimmedLines(text.slice(old.length).split('\n')))
    if (id === null) addLoose(side, above, text)
  }
  return side
}

function addLoose({ loose }: Side, above: string | null, ...texts: string[]): void {
  const known = loose.get(above)
  if (known === undefined) loose.set(above, texts)
  else known.push(...texts)
}

// Takes out of `mine` the text without an anchor that `theirs` has in the same place, too, or has deleted there.
// Otherwise text that both sides have would stand twice in the result. The same text in another place is another text.
function dropRepeatedText({ base, mine, theirs }: Sides): void {
  const isCommon = (id: string) => base.texts.has(id) && mine.texts.has(id) && theirs.texts.has(id)
  const countsOf = (side: Side) => {
    const counts = new Map<string, number>()
    for (const { place, above, loose } of placesOf(side, isCommon)) {
      const added = above === null || base.texts.has(above) ? [] : [side.texts.get(above) ?? '']
      for (const text of [...added, ...loose]) counts.set(place + text, (counts.get(place + text) ?? 0) + 1)
    }
    return counts
  }
  const [before, other] = [countsOf(base), countsOf(theirs)]
  const repeated = new Map(
    [...before, ...other].map(([key]) => [key, Math.max(before.get(key) ?? 0, other.get(key) ?? 0)]),
  )
  for (const { place, above, loose } of placesOf(mine, isCommon)) {
    const left = loose.filter((text) => {
      const times = repeated.get(place + text) ?? 0
      repeated.set(place + text, times - 1)
      return times < 1
    })
    mine.loose.set(above, left)
  }
}

type Placed = { place: string; above: string | null; loose: string[] }

// The text without an anchor behind each block, and behind null for the beginning. Its place is the nearest block above
// it that all sides have.
function placesOf({ texts, loose }: Side, isCommon: (id: string) => boolean): Placed[] {
  let place = ''
  return [null, ...texts.keys()].map((above) => {
    if (above !== null && isCommon(above)) place = above
    return { place: `${place}\n`, above, loose: loose.get(above) ?? [] }
  })
}

// Moves the text behind a deleted block behind the nearest kept block above it.
function keepLoose(side: Side, kept: ReadonlyMap<string, unknown>): void {
  let above: string | null = null
  for (const id of side.texts.keys()) {
    if (kept.has(id)) above = id
    else addLoose(side, above, ...(side.loose.get(id) ?? []))
  }
}

type Versions = { base: string | null; mine: string | null; theirs: string | null }
type MergedVersions = { text: string | null; conflict: BlockConflict | null }

// The text is null if the block is deleted.
function mergeVersions(id: string, { base, mine, theirs }: Versions): MergedVersions {
  if (mine === theirs || mine === base) return { text: theirs, conflict: null }
  if (theirs === base) return { text: mine, conflict: null }
  if (mine === null || theirs === null) return { text: mine ?? theirs, conflict: null }
  return { text: theirs, conflict: { block_id: id, base, mine, theirs } }
}

// The ids of the kept blocks in the order of the result, behind null for the beginning. The order is that of `theirs`,
// or that of `mine` if only `mine` has moved blocks. A block of the other side follows the block that it follows there.
function orderOf({ base, mine, theirs }: Sides, kept: ReadonlyMap<string, unknown>): (string | null)[] {
  const common = (side: Side) => {
    const ids = [...side.texts.keys()]
    return ids.filter((id) => base.texts.has(id) && mine.texts.has(id) && theirs.texts.has(id)).join()
  }
  const movesMine = common(mine) !== common(base) && common(theirs) === common(base)
  const [leading, other] = movesMine ? [mine, theirs] : [theirs, mine]
  const order = new Map<string | null, string[]>([[null, []]])
  for (const id of leading.texts.keys()) if (kept.has(id)) order.set(id, [])
  let above: string | null = null
  for (const id of other.texts.keys()) {
    if (order.has(id)) above = id
    else if (kept.has(id)) order.get(above)?.push(id)
  }
  return [...order].flat(2)
}

// The text without an anchor that stands behind a block of the result.
function looseText({ mine, theirs }: Sides, id: string | null): MarkdownBlock[] {
  return [...(mine.loose.get(id) ?? []), ...(theirs.loose.get(id) ?? [])].map((text) => ({ id: null, text }))
}
