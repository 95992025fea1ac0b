import { requireWriter } from '../../../shared/auth/caller.ts'
import { restoreVersion } from '../../../shared/body/versions.ts'
import { errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { accountPage } from '../account-page.ts'
import { type DocumentCall, documentCallOf } from '../document-call.ts'
import { pageHeaders } from '../headers.ts'
import type { PageAnswer } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { styleSources } from '../share/style-sources.ts'
import { differenceOf, type NamedDifference } from './named-difference.ts'
import { requireNumber } from './pages.ts'

const restoreView = view<{
  documentId: string
  documentTitle: string
  csrfToken: string
  seq: number
  /** What the current text loses and gets. */
  difference: NamedDifference
  /** The number under which the current text is kept. */
  keptAs: number
  /** The number of the version that is dropped, because only so many are kept; null when none is. */
  dropped: number | null
  problem: string | null
}>('restore')

const moved = 'The document was changed in the meantime, so nothing was brought back. This is what would change now.'

/**
 * Asks whether a version shall be the current text again, and says what would change. Only the text that was shown is
 * replaced: when the document has moved since, the page says so and asks again.
 */
export const restorePage = accountPage({
  path: '/d/{documentId}/versions/{seq}/restore',
  async get(accountCall) {
    const call = await documentCallOf(accountCall)
    requireWriter(call.caller, call.document.workspace_id)
    return ask(call, { problem: null, status: 200 })
  },
  async post(accountCall) {
    const call = await documentCallOf(accountCall)
    const { id: documentId } = call.document
    const seq = requireNumber(call.params)
    const shown = accountCall.submitted.field('version')
    try {
      await pageWrite(call, async (context) => {
        await restoreVersion(context, {
          documentId,
          caller: context.caller,
          seq: String(seq),
          guard(_current, { version }) {
            if (version === shown) return
            throw new Refusal('version_conflict', { details: { provided: shown, current_version: version } })
          },
        })
        await recordPageWrite(context.tx, { call, action: 'rollbackDocument', documentIds: [documentId] })
      })
    } catch (error) {
      if (!(error instanceof Refusal) || ![409, 422].includes(error.status)) throw error
      const problem = error.code === 'version_conflict' ? moved : errorCatalogue[error.code].message
      return ask(await documentCallOf(accountCall), { problem, status: error.status })
    }
    return { location: `/d/${documentId}/history?restored=${seq}` }
  },
})

async function ask(call: DocumentCall, answer: { problem: string | null; status: number }): Promise<PageAnswer> {
  const { service, document, account, csrfToken } = call
  const seq = requireNumber(call.params)
  const difference = await differenceOf(call, { from: 'current', to: { seq: String(seq) } })
  const keptAs = difference.versionSeq + 1
  const dropped = keptAs - service.config.VERSIONS_RETENTION
  const html = restoreView({
    title: `Restore version ${seq} · ${document.title}`,
    account,
    documentId: document.id,
    documentTitle: document.title,
    csrfToken,
    seq,
    difference,
    keptAs,
    dropped: dropped >= 1 ? dropped : null,
    problem: answer.problem,
  })
  const headers = pageHeaders({ 'style-src': styleSources(difference.shown?.html ?? '') })
  return { status: answer.status, html, headers }
}
