import type { Request } from 'express'
import { type ShareRow, shareById } from '../../../shared/sharing/queries.ts'
import { shareIdPattern } from '../../../shared/sharing/schema.ts'
import { addressOf } from '../../http/address.ts'
import { parseGuard, satisfies } from '../../http/preconditions.ts'
import { rateLimitHeaders } from '../../http/rate-limit.ts'
import type { PageCall } from '../page.ts'
import { pageMissing } from '../refusals.ts'

/**
 * The share that the path names; a page that says that there is nothing, when there is none or none may be read. Each
 * visit counts for its address: 429 when there are too many.
 */
export async function requireShare({ service, request, response, params }: PageCall): Promise<ShareRow> {
  const limit = await service.rateLimiter.consume('share', addressOf(request))
  if (limit !== null) response.set(rateLimitHeaders(limit))
  const id = params['shareId'] ?? ''
  const isReadable = service.config.PUBLIC_SHARE_ENABLED && new RegExp(shareIdPattern).test(id)
  const share = isReadable ? await shareById(service.database, id) : null
  if (share === null) throw pageMissing()
  return share
}

/** Whether the client says that it has this version of what it asks for; the answer is 304 then. */
export function hasVersion(request: Request, version: string): boolean {
  const known = parseGuard(request.get('if-none-match'), { name: 'If-None-Match' })
  return known !== null && satisfies(known, version)
}
