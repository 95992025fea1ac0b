import Type from 'typebox'
import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import type { Committed, Edited } from '../../../shared/body/commit.ts'
import type { Warning } from '../../../shared/body/document.ts'
import { type CurrentBody, currentBody } from '../../../shared/body/queries.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { type DocumentLocator, type DocumentRow, visibleDocument } from '../../../shared/documents/queries.ts'
import { documentNotFound } from '../../../shared/documents/require.ts'
import { canonicalLocale } from '../../../shared/locales/locale.ts'
import { resolveVariant } from '../../../shared/localization/resolve.ts'

type DocumentCall = { db: Queryable; caller: Caller; params: { id: string } }

/**
 * Reads the body of a document, with members of the document that the answer shows too. Refuses with 404
 * `document_not_found` when the document is not visible.
 */
export async function requireBody(call: DocumentCall): Promise<{ stored: CurrentBody; body: StoredBody }> {
  const { id } = call.params
  const stored = await currentBody(call.db, { documentId: id, workspaceIds: visibleWorkspaces(call.caller) })
  if (stored === null) throw documentNotFound(id)
  return { stored, body: new StoredBody({ version: stored.version, text: stored.body }) }
}

/** The members with which every answer about a whole body begins. */
export function bodyHeading(document: { id: string; version: string; updated_at: number }) {
  return {
    document_id: document.id,
    document_uri: `svc://doc/${document.id}`,
    version: document.version,
    updated_at: document.updated_at,
  }
}

/** Makes the answer of a write to a body for a caller that prefers the smallest one. */
export function bodyWritten(
  { document, changedBlockIds }: Pick<Committed<Edited>, 'document' | 'changedBlockIds'>,
  warnings: readonly Warning[] = [],
) {
  return () => ({
    document_id: document.id,
    version: document.version,
    changed_block_ids: changedBlockIds(),
    warnings,
  })
}

/** The query parameters of a read of a whole body. */
export const contentQuery = {
  format: Type.Optional(Type.Enum(['tiptap-json', 'markdown', 'html'], { default: 'tiptap-json' })),
  annotate: Type.Optional(Type.Enum(['anchors'], { description: 'put the block id above each block; Markdown only' })),
}

/**
 * The query parameter `locale` of a read. The read is then about the variant of the document set, source or
 * translation, that fits the locale best.
 */
export const localeParameter = Type.Optional(
  Type.String({ description: 'BCP 47; resolves to the best variant of a document set' }),
)

/** A read of a document that may name a locale. */
type LocaleCall = { db: Queryable; caller: Caller; params: { id: string }; query: { locale?: string | undefined } }

/**
 * The outcome of resolving a locale, as members of the answer. The outcome is empty when the request names no locale.
 */
type Resolution =
  | { requested_locale: string; resolved_locale: string | null; fallback_used: boolean }
  | Record<never, never>

/**
 * Reads a document. When the request names a locale, another member of its document set may be read: the source or the
 * translation that fits the locale best. Refuses with 400 `invalid_locale` when the tag is not well-formed, and with
 * 404 `document_not_found` when the document is not visible.
 */
export async function requireVariant(call: LocaleCall): Promise<{ document: DocumentRow; resolution: Resolution }> {
  const { found, resolution } = await readVariant(call, (locator) => visibleDocument(call.db, locator))
  return { document: found, resolution }
}

/**
 * Reads a document with its body. When the request names a locale, another member of its document set may be read: the
 * source or the translation that fits the locale best. Refuses with 400 `invalid_locale` and 404 `document_not_found`.
 */
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
  // The variant was deleted after it was resolved, so the next best variant is read.
  if (documentId !== id) return readVariant(call, read)
  throw documentNotFound(id)
}

function resolutionOf(requested: string, resolved: string | null): Resolution {
  return { requested_locale: requested, resolved_locale: resolved, fallback_used: resolved !== requested }
}
