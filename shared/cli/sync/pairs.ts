import { placeFolders } from './folders.ts'
import { directoryOf, idInPath, inDirectory, keyOfPath, titleOfPath } from './paths.ts'
import type { Entry, LocalFile, Pair, PlanInput } from './sides.ts'

/** Files with their documents, and the files without a document. */
export type Paired = { pairs: Pair[]; newFiles: LocalFile[] }

/**
 * Finds the document of each file by the id that the file names. Otherwise its unchanged text tells the document, at
 * the path of the last sync or at another path, else its path alone. Of several files with one id, the file at the path
 * of the last sync counts, and the others are copies. A file without an id also meets a document of the same title in
 * the same folder, if the last sync knows neither. A copy that was put in the place of its original belongs to the
 * document of the original.
 */
export function pairFiles(input: PlanInput): Paired {
  const { entries, creating, documents } = input
  const pairs = replacedByCopies(input)
  const replaced = new Set(pairs.values())
  const files = [...input.files.files.values()].filter((file) => !replaced.has(file))
  const left = new Set<LocalFile>()
  // After a crash, a file without its document may still name the old id, although its new document was created.
  const idNamedBy = (file: LocalFile) => {
    const [named, created] = [idOf(file), creating.get(file.path)]
    return created !== undefined && documents.has(created) && !documents.has(named ?? '') ? created : named
  }
  const named = Map.groupBy(files, idNamedBy)
  for (const [id, sameId] of named) {
    const isKnown = id !== null && (entries.has(id) || documents.has(id))
    const path = id === null ? undefined : entries.get(id)?.path
    const first = isKnown ? (sameId.find((file) => file.path === path) ?? sameId[0]) : undefined
    if (id !== null && first !== undefined) pairs.set(id, first)
    for (const file of sameId) if (file !== first) left.add(file)
  }
  const claim = (id: string | undefined, file: LocalFile) => {
    if (id === undefined || pairs.has(id)) return
    pairs.set(id, file)
    left.delete(file)
  }
  const claimBy = (keyOf: (file: Entry | LocalFile) => string, mayClaim: (file: LocalFile) => boolean = () => true) => {
    const missing = [...entries.values()].filter(({ id }) => !pairs.has(id))
    const ids = new Map(missing.map((entry) => [keyOf(entry), entry.id]))
    for (const file of left) if (mayClaim(file)) claim(ids.get(keyOf(file)), file)
  }
  claimBy(({ path, hash }) => `${hash} ${path}`)
  claimBy(
    ({ hash }) => hash,
    (file) => idOf(file) === null,
  )
  claimBy(({ path }) => path)
  const byPlace = unknownByPlace(input)
  for (const file of left) {
    // A copy of a file whose document is known is no file of another document.
    const id = idOf(file)
    if (id === null || !pairs.has(id)) claim(byPlace.get(placeOf(file)), file)
  }
  return { pairs: [...pairs].map(([id, file]) => ({ id, file })), newFiles: [...left] }
}

// Editors save a new file and rename it to the old name, and so do people who try a change in a copy.
function replacedByCopies({ entries, files: { files } }: PlanInput): Map<string, LocalFile> {
  const found = new Map<string, LocalFile>()
  for (const copy of entries.values()) {
    const original = copy.copyOf === undefined ? undefined : entries.get(copy.copyOf)
    const file = files.get(original?.path ?? '')
    if (original === undefined || file === undefined || files.has(copy.path)) continue
    const isOf = ({ id, hash }: Entry, one: LocalFile) => idOf(one) === id || (idOf(one) === null && one.hash === hash)
    if (!isOf(copy, file) || [...files.values()].some((one) => isOf(original, one))) continue
    found.set(original.id, file)
  }
  return found
}

function idOf({ documentId, path }: LocalFile): string | null {
  return documentId ?? idInPath(path)
}

function placeOf({ path, title }: LocalFile): string {
  return keyOfPath(inDirectory(directoryOf(path), title ?? titleOfPath(path)))
}

// The documents that the last sync does not know, by directory and title.
function unknownByPlace(input: PlanInput): Map<string, string> {
  const { directories } = placeFolders(input, [])
  const unknown = [...input.documents.values()].filter(({ id }) => !input.entries.has(id))
  return new Map(
    unknown.flatMap(({ id, title, folder_id }) => {
      const directory = directories.get(folder_id)
      return directory === undefined ? [] : [[keyOfPath(inDirectory(directory, title)), id] as const]
    }),
  )
}
