/** Image types that a browser shows but cannot run as a program. Only these are served under their own type. */
export const inlineImageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** How many bytes from the start of a file tell its type. */
export const sampleBytes = 4100

/** Whether files of a type have to be texts, which are valid UTF-8 without U+0000. */
export function isText(type: string): boolean {
  return type.startsWith('text/') || type === 'application/json' || /\+(json|xml)$/.test(type)
}

/**
 * Whether the first bytes of a file fit the type that the client declared. A text must not begin with the signature of
 * an image, a PDF, a ZIP archive or an Office document. An operator may accept a type whose signature is not known.
 * Then any bytes fit the type.
 */
export async function isOfType(type: string, sample: Uint8Array): Promise<boolean> {
  // The import stands here, so that only a process that checks a file loads the library.
  const { fileTypeFromBuffer, supportedMimeTypes } = await import('file-type')
  const found = await signatureOf(sample, fileTypeFromBuffer)
  if (isText(type)) return found === null || !binaries.has(found)
  if (type === 'application/zip') return found !== null && startsWith(sample, zipStart)
  if (zipped.has(type)) return found === type || found === 'application/zip'
  return found === type || !(supportedMimeTypes as ReadonlySet<string>).has(type)
}

const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const zipStart = [0x50, 0x4b]
const officeTypes = 'application/vnd.openxmlformats-officedocument'
// Documents of Office are ZIP archives; bytes behind the sample may be needed to tell them from other archives. So a
// sample that looks like any ZIP archive fits these types.
const zipped = new Set([
  `${officeTypes}.wordprocessingml.document`,
  `${officeTypes}.spreadsheetml.sheet`,
  `${officeTypes}.presentationml.presentation`,
])
const binaries = new Set([...inlineImageTypes, ...zipped, 'application/pdf', 'application/zip'])

async function signatureOf(
  sample: Uint8Array,
  fileTypeFromBuffer: typeof import('file-type').fileTypeFromBuffer,
): Promise<string | null> {
  // The library also reads the chunks of a PNG, to recognise animations. Here the signature alone counts.
  if (startsWith(sample, pngStart)) return 'image/png'
  // The library rejects some files that are cut off or wrong behind their signature. Such a file counts as a file of
  // unknown type.
  const found = await fileTypeFromBuffer(sample).catch(() => undefined)
  return found?.mime ?? null
}

function startsWith(sample: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => sample[index] === byte)
}
