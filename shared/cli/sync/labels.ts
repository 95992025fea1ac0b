import { isDeepStrictEqual } from 'node:util'
import { type Properties, tagKey } from '../../documents/metadata.ts'

/** What a file and a document have besides the body. */
export type Labels = { title: string; tags: readonly string[]; properties: Properties }

/** Merged labels. `conflicts` names what both sides have changed in different ways; there `theirs` counts. */
export type MergedLabels = Labels & { conflicts: string[] }

/**
 * Merges the labels of two sides. Each tag and each property is merged by itself, so changes of different tags and
 * properties are both kept. `base` is null if no common state is known; then nothing is taken away.
 */
export function mergeLabels({
  base,
  mine,
  theirs,
}: {
  base: Labels | null
  mine: Labels
  theirs: Labels
}): MergedLabels {
  const conflicts: string[] = []
  const choose = <T>(name: string, versions: { base: T; mine: T; theirs: T }): T => {
    const { base, mine, theirs } = versions
    if (isDeepStrictEqual(mine, theirs) || isDeepStrictEqual(mine, base)) return theirs
    if (!isDeepStrictEqual(theirs, base)) conflicts.push(name)
    return isDeepStrictEqual(theirs, base) ? mine : theirs
  }
  const title = choose('title', { base: base?.title, mine: mine.title, theirs: theirs.title }) ?? theirs.title
  const properties: Properties = {}
  for (const name of new Set([...Object.keys(theirs.properties), ...Object.keys(mine.properties)])) {
    const versions = {
      base: base?.properties[name],
      mine: mine.properties[name],
      theirs: theirs.properties[name],
    }
    const value = choose(name, versions)
    if (value !== undefined) properties[name] = value
  }
  return { title, tags: mergeTags(base?.tags ?? [], { mine: mine.tags, theirs: theirs.tags }), properties, conflicts }
}

/** True if two sides have the same labels; the case and the order of tags do not count. */
export function areSameLabels(one: Labels, other: Labels): boolean {
  const keys = ({ tags }: Labels) => tags.map(tagKey).sort()
  const rest = ({ title, properties }: Labels) => ({ title, properties })
  return isDeepStrictEqual(keys(one), keys(other)) && isDeepStrictEqual(rest(one), rest(other))
}

function mergeTags(base: readonly string[], { mine, theirs }: Record<'mine' | 'theirs', readonly string[]>): string[] {
  const keys = (tags: readonly string[]) => new Set(tags.map(tagKey))
  const [before, own, other] = [keys(base), keys(mine), keys(theirs)]
  const kept = theirs.filter((tag) => !before.has(tagKey(tag)) || own.has(tagKey(tag)))
  const added = mine.filter((tag) => !before.has(tagKey(tag)) && !other.has(tagKey(tag)))
  return [...kept, ...added]
}
