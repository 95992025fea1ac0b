import { inSnapshot } from '../../../shared/database/database.ts'
import { bodyPair } from '../../../shared/differences/compare.ts'
import type { NamedBody } from '../../../shared/differences/queries.ts'
import { requireDocument } from '../../../shared/documents/require.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import type { DocumentCall } from '../document-call.ts'
import { PageRefusal, pageMissing } from '../refusals.ts'
import { type ShownDifference, shownDifference } from './difference-html.ts'

/** One of the two bodies of a difference. `seq` is the number of a kept version. */
export type Side = { seq: number | 'current'; name: string; version: string }

/**
 * A difference with the names of its sides. `shown` is null for bodies that take too much to compare. `versionSeq` is
 * the number of the newest version that was kept when the bodies were read.
 */
export type NamedDifference = {
  from: Side
  to: Side
  isSame: boolean
  shown: ShownDifference | null
  versionSeq: number
}

/**
 * The difference of two bodies of the document of a page. Refuses with 404 when the document does not keep one of the
 * versions.
 */
export async function differenceOf(
  call: DocumentCall,
  named: { from: NamedBody; to: NamedBody },
): Promise<NamedDifference> {
  const { service, caller, document } = call
  const documentId = document.id
  const { pair, versionSeq } = await inSnapshot(service.database, async (db) => ({
    pair: await bodyPair(db, { documentId, caller, ...named }),
    versionSeq: (await requireDocument(db, { documentId, caller })).version_seq,
  })).catch(inWords)
  const [from, to] = [pair.heading.from, pair.heading.to].map((side) => ({ ...side, name: bodyName(side.seq) }))
  if (from === undefined || to === undefined) throw new Error('a difference has two sides')
  const shown = await shownDifference(pair, `/d/${document.id}`)
  return { from, to, isSame: from.version === to.version, shown, versionSeq }
}

/** The body that a query names as in the API: `current` or the number of a version. Refuses other names with 404. */
export function namedBody(name: string): NamedBody {
  if (name === 'current') return 'current'
  if (!/^[1-9][0-9]*$/.test(name)) throw pageMissing()
  return { seq: name }
}

// The name of a body in a sentence.
function bodyName(seq: number | 'current'): string {
  return seq === 'current' ? 'the current text' : `version ${seq}`
}

/** Throws the refusal of a version that is not kept in words for a person, and every other error as it is. */
export function inWords(error: unknown): never {
  if (!(error instanceof Refusal) || error.code !== 'version_not_found') throw error
  throw new PageRefusal(404, {
    heading: 'This version is not kept',
    advice:
      'Only the newest versions of a document are kept, and this one is gone. The history lists those that are there.',
  })
}
