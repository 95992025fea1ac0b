import { requireVersion } from '../../../shared/body/versions.ts'
import { accountPage } from '../account-page.ts'
import { type DocumentCall, documentCallOf } from '../document-call.ts'
import { pageHeaders } from '../headers.ts'
import { pageMissing } from '../refusals.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { sharedHtml } from '../share/shared-html.ts'
import { styleSources } from '../share/style-sources.ts'
import { idIn } from '../workspace/addresses.ts'
import { differenceOf, inWords, type NamedDifference, namedBody } from './named-difference.ts'
import { findVersion, type ListedVersion, listVersions, type VersionList } from './versions.ts'

type Heading = { documentId: string; documentTitle: string; mayWrite: boolean }

const historyView = view<
  Heading & {
    list: VersionList
    /** Whether the list begins with the current text. */
    isNewestPage: boolean
    /** Null for a document that keeps no version. */
    difference: NamedDifference | null
    /** The number of the version that this person has just brought back. */
    restored: number | null
  }
>('history')

const versionView = view<
  Heading & { version: ListedVersion; written: Moment; documentLocale: string | null; html: string }
>('version')

/**
 * The history of a document: its kept versions, and the difference of two of its bodies. `from` and `to` of the query
 * name them as in the API (api/guide/blocks.md#differences), by default the newest version and the current text.
 */
export const historyPage = accountPage({
  path: '/d/{documentId}/history',
  async get(accountCall) {
    const call = await documentCallOf(accountCall)
    const { service, query, account, document } = call
    const before = idIn(query.get('before'))
    const list = await listVersions(service.database, { document, before })
    const difference = document.version_seq === 0 ? null : await differenceOf(call, askedBodies(query))
    const html = historyView({
      ...headingOf(call),
      title: `History · ${document.title}`,
      account,
      list,
      isNewestPage: before === null,
      difference,
      restored: idIn(query.get('restored')),
    })
    return { html, headers: pageHeaders({ 'style-src': styleSources(difference?.shown?.html ?? '') }) }
  },
})

/** A kept version of a document as it was. */
export const versionPage = accountPage({
  path: '/d/{documentId}/versions/{seq}',
  async get(accountCall) {
    const call = await documentCallOf(accountCall)
    const { service, params, account, document } = call
    const seq = requireNumber(params)
    const { database: db } = service
    const kept = await requireVersion(db, { document, seq: String(seq) }).catch(inWords)
    const version = await findVersion(db, { document, seq })
    if (version === null) throw pageMissing()
    const path = `/d/${document.id}`
    const text = await sharedHtml({ text: kept.body, path })
    const html = versionView({
      ...headingOf(call),
      title: `Version ${seq} · ${document.title}`,
      account,
      version,
      written: momentOf(kept.updated_at),
      documentLocale: document.locale,
      html: text,
    })
    return { html, headers: pageHeaders({ 'style-src': styleSources(text) }) }
  },
})

/** The number of a version that the path names as `seq`. Refuses what is no such number with 404. */
export function requireNumber(params: DocumentCall['params']): number {
  const seq = idIn(params['seq'] ?? null)
  if (seq === null) throw pageMissing()
  return seq
}

function headingOf({ document, mayWrite }: DocumentCall): Heading {
  return { documentId: document.id, documentTitle: document.title, mayWrite }
}

function askedBodies(query: URLSearchParams) {
  const [from, to] = [query.get('from'), query.get('to')]
  return { from: from === null ? ('newest' as const) : namedBody(from), to: namedBody(to ?? 'current') }
}
