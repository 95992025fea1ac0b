import Type from 'typebox'
import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { type CurrentBody, currentBody } from '../../../shared/body/queries.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { type DocumentLocator, type DocumentRow, visibleDocument } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { canonicalLocale } from '../../../shared/locales/locale.ts'
import { resolveVariant } from '../../../shared/localization/resolve.ts'

type DocumentCall = { db: Queryable; caller: Caller; params: { id: string } }

/** The document a read is about, without its body; 404 when it is not visible. */
export async function requireDocument(call: DocumentCall): Promise<DocumentRow> {
  const { id } = call.params
  const document = await visibleDocument(call.db, { documentId: id, workspaceIds: visibleWorkspaces(call.caller) })
  if (document === null) throw new Refusal('document_not_found', { details: { id } })
  return document
}

/** The body a read is about, with what its answer shows beside it; 404 when the document is not visible. */
export async function requireBody(call: DocumentCall): Promise<{ stored: CurrentBody; body: StoredBody }> {
  const { id } = call.params
  const stored = await currentBody(call.db, { documentId: id, workspaceIds: visibleWorkspaces(call.caller) })
  if (stored === null) throw new Refusal('document_not_found', { details: { id } })
  return { stored, body: new StoredBody({ version: stored.version, text: stored.body }) }
}

/** The members that every answer about a whole body begins with. */
export function bodyHeading(document: { id: string; version: string; updated_at: number }) {
  return {
    document_id: document.id,
    document_uri: `svc://doc/${document.id}`,
    version: document.version,
    updated_at: document.updated_at,
  }
}

/** Query parameter of reads that resolve to the best variant of a document set (decisions 2.4). */
export const localeParameter = Type.Optional(
  Type.String({ description: 'BCP 47; resolves to the best variant of a document set' }),
)

/** A read of a document that may name a locale. */
type LocaleCall = { db: Queryable; caller: Caller; params: { id: string }; query: { locale?: string | undefined } }

/** How a locale was resolved, as members of the answer; none when no locale was asked for. */
type Resolution =
  | { requested_locale: string; resolved_locale: string | null; fallback_used: boolean }
  | Record<never, never>

/**
 * The document a read is about, in the best variant for the locale it asks for. 400 `invalid_locale` for a tag that is
 * not well-formed, 404 when the document is not visible.
 */
export async function requireVariant(call: LocaleCall): Promise<{ document: DocumentRow; resolution: Resolution }> {
  const { found, resolution } = await readVariant(call, (locator) => visibleDocument(call.db, locator))
  return { document: found, resolution }
}

/** As `requireVariant`, with the body. */
export async function requireVariantBody(call: LocaleCall): Promise<{ stored: CurrentBody; resolution: Resolution }> {
  const { found: stored, resolution } = await readVariant(call, (locator) => currentBody(call.db, locator))
  return { stored, resolution }
}

async function readVariant<Found extends { locale: string | null }>(
  call: LocaleCall,
  read: (locator: DocumentLocator) => Promise<Found | null>,
): Promise<{ found: Found; resolution: Resolution }> {
  const { id } = call.params
  const { locale } = call.query
  const requested = locale === undefined ? null : canonicalLocale(locale, { status: 400, field: 'locale' })
  const workspaceIds = visibleWorkspaces(call.caller)
  const asked = { documentId: id, workspaceIds }
  const documentId = requested === null ? id : await resolveVariant(call.db, { ...asked, locale: requested })
  const found = await read({ documentId, workspaceIds })
  if (found !== null) return { found, resolution: requested === null ? {} : resolutionOf(requested, found.locale) }
  // A variant that was deleted since it was resolved: the next best one stands in for it.
  if (documentId !== id) return readVariant(call, read)
  throw new Refusal('document_not_found', { details: { id } })
}

function resolutionOf(requested: string, resolved: string | null): Resolution {
  return { requested_locale: requested, resolved_locale: resolved, fallback_used: resolved !== requested }
}
