import { type ShareRow, shareById } from '../../../shared/sharing/queries.ts'
import { shareIdPattern } from '../../../shared/sharing/schema.ts'
import type { PageCall } from '../page.ts'
import { pageMissing } from '../refusals.ts'

/** The share that the path names; a page that says that there is nothing, when there is none or none may be read. */
export async function requireShare({ service, params }: PageCall): Promise<ShareRow> {
  const id = params['shareId'] ?? ''
  const isReadable = service.config.PUBLIC_SHARE_ENABLED && new RegExp(shareIdPattern).test(id)
  const share = isReadable ? await shareById(service.database, id) : null
  if (share === null) throw pageMissing()
  return share
}
