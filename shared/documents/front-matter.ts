import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, parseDocument, YAMLMap } from 'yaml'
import { isStorable } from '../schema/strings.ts'
import { type Properties, propertyLimits, propertyNamePattern, tagKey, tagLimits } from './metadata.ts'

/** The tags and properties of a document. */
export type DocumentLabels = { tags: readonly string[]; properties: Properties }

// The longest front matter that is interpreted, in UTF-16 units. Front matter that people write is far shorter.
const longestYaml = 64 * 1024

/**
 * Writes tags and properties into front matter, and returns its YAML without the lines around it. An entry of the front
 * matter gives way to a property of the same name, and its `tags` to the tags of the document. Entries named `tags` and
 * `title` have a meaning of their own, so properties of these names are left out. Returns null when the front matter is
 * no mapping that can be written again.
 */
export function mergedFrontMatter(yaml: string, { tags, properties }: DocumentLabels): string | null {
  return rewriteFrontMatter(yaml, (document, map) => {
    if (tags.length > 0) map.set('tags', document.createNode(tags))
    for (const [name, value] of Object.entries(properties)) {
      if (!reserved.has(name)) map.set(name, document.createNode(value))
    }
  })
}

const reserved = new Set(['tags', 'title'])

/** Front matter that was read: its tags and properties, and the YAML of everything else, or null for nothing else. */
export type ReadFrontMatter = { tags: string[]; properties: Properties; rest: string | null }

/**
 * Takes tags and properties out of front matter. Tags are a list, or a text with commas. A text, a number, a boolean
 * or a list of texts is a property, unless it is the title. A number that is written in another form than JSON has it,
 * such as 1.10, is a text. Whatever does not fit into a tag or property stays in the front matter, as do anchors and
 * aliases, and the entries that `kept` names. Returns null when the front matter is no mapping.
 */
export function readFrontMatter(yaml: string, kept: ReadonlySet<string> = new Set()): ReadFrontMatter | null {
  const tags: string[] = []
  const properties: Properties = {}
  const rest = rewriteFrontMatter(yaml, (document, map) => {
    for (const { key, value } of [...map.items] as Pair[]) {
      if (!isScalar(key) || typeof key.value !== 'string' || kept.has(key.value) || hasAnchor(value)) continue
      if (key.value === 'tags') takeTags({ document, map, value, tags })
      else takeProperty({ map, name: key.value, value, properties })
    }
  })
  if (rest === null) return null
  return { tags, properties, rest: rest.trim() === '' ? null : rest }
}

/** The title that front matter names, without quotes around it; null without a title. */
export function titleInFrontMatter(yaml: string): string | null {
  const declared = /^title:[ \t]*(\S.*)$/m.exec(yaml)?.[1]?.trim()
  const unquoted = declared?.replace(/^(["'])(.*)\1$/, '$2')
  return unquoted?.replace(/\s+/g, ' ').trim() || null
}

// The library would compare each key with each other key, which takes seconds for thousands of keys.
const options = { schema: 'core', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const

function hasSameKeys({ items }: YAMLMap): boolean {
  const keys = (items as Pair[]).flatMap(({ key }) => (isScalar(key) ? [key.value] : []))
  return new Set(keys).size < keys.length
}

/**
 * Changes the mapping of front matter and returns its YAML again, comments included. Returns null when the front matter
 * is no mapping that can be written again, or is too long. Nothing is expanded, so aliases cost nothing. Deep nesting
 * exhausts the stack of the parser, and counts as no mapping.
 */
export function rewriteFrontMatter(yaml: string, change: (document: Document, map: YAMLMap) => void): string | null {
  if (yaml.length > longestYaml) return null
  try {
    const document: Document = parseDocument(yaml, options)
    if (document.errors.length > 0) return null
    document.contents ??= new YAMLMap()
    if (!isMap(document.contents) || hasSameKeys(document.contents)) return null
    change(document, document.contents)
    const written = document.toString({ lineWidth: 0, flowCollectionPadding: false })
    if (/^(---|\.\.\.)/m.test(written)) return null
    return document.contents.items.length === 0 ? written.replace(/\{\}\n$/, '') : written
  } catch {
    return null
  }
}

type TagSource = { document: Document; map: YAMLMap; value: unknown; tags: string[] }

function takeTags({ document, map, value, tags }: TagSource): void {
  const given = isSeq(value) ? value.items : isScalar(value) ? textOf(value)?.split(',') : undefined
  if (given === undefined) return
  const left: unknown[] = []
  const keys = new Set<string>()
  for (const item of given) {
    const tag = (typeof item === 'string' ? item : isScalar(item) ? textOf(item) : undefined)?.trim()
    if (tag === '') continue
    const isFit = tag !== undefined && [...tag].length <= tagLimits.characters && isStorable(tag)
    if (isFit && keys.has(tagKey(tag))) continue
    if (!isFit || keys.size === tagLimits.tags) {
      left.push(item)
      continue
    }
    keys.add(tagKey(tag))
    tags.push(tag)
  }
  if (left.length === 0) map.delete('tags')
  else map.set('tags', document.createNode(left))
}

type PropertySource = { map: YAMLMap; name: string; value: unknown; properties: Properties }

function takeProperty({ map, name, value, properties }: PropertySource): void {
  if (reserved.has(name) || !new RegExp(propertyNamePattern).test(name)) return
  if (Object.keys(properties).length === propertyLimits.properties) return
  const property = propertyOf(value)
  if (property === undefined) return
  properties[name] = property
  map.delete(name)
}

function propertyOf(value: unknown): Properties[string] | undefined {
  if (isSeq(value)) {
    const texts = value.items.map((item) => (isScalar(item) && typeof item.value === 'string' ? item.value : undefined))
    const fit = texts.filter((text) => text !== undefined && isText(text)) as string[]
    return fit.length === texts.length && texts.length <= propertyLimits.items ? fit : undefined
  }
  if (!isScalar(value)) return undefined
  if (typeof value.value === 'boolean') return value.value
  if (typeof value.value === 'number' && String(value.value) === value.source) return value.value
  const text = textOf(value)
  return text !== undefined && isText(text) ? text : undefined
}

function textOf({ value, source }: { value: unknown; source?: string }): string | undefined {
  if (typeof value === 'number') return source ?? String(value)
  return typeof value === 'string' ? value : undefined
}

function isText(text: string): boolean {
  return [...text].length <= propertyLimits.characters && isStorable(text)
}

// Whether something else may refer to the value, or the value refers to something else.
function hasAnchor(value: unknown): boolean {
  if (isAlias(value)) return true
  if (isSeq(value)) return value.anchor !== undefined || value.items.some(hasAnchor)
  return isScalar(value) && value.anchor !== undefined
}
