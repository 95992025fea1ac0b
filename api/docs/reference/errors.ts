import { IsArray, IsEnum, IsObject, IsUnion, type TSchema } from 'typebox'
import { type CatalogueEntry, errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../../shared/errors/errors.ts'
import { errorAnchor, errorType, guideSectionOf, statusesOf } from '../../http/errors.ts'
import { table } from './table.ts'

/**
 * The error catalogue as a Markdown table. The columns are status, code, type, meaning and shape of the details. The
 * first cell of a row has the anchor of the code, for links.
 */
export function errorTable(): string {
  const entries = Object.entries(errorCatalogue) as [ErrorCode, CatalogueEntry][]
  return table({
    head: ['Status', 'Code', 'Type', 'Meaning', '`error.details`'],
    rows: entries.map(([code, { message, details }]) => [
      `<a id="${errorAnchor(code)}"></a>${statusesOf(code).join(' or ')}`,
      `\`${code}\``,
      `\`${errorType(statusesOf(code)[0] ?? 500)}\``,
      meaningOf(code, message),
      details === undefined ? '–' : `\`${detailsNotation(details)}\``,
    ]),
  })
}

function meaningOf(code: ErrorCode, message: string): string {
  const section = guideSectionOf(code)
  return section === undefined ? message : `${message} [Guide](/guide/${section})`
}

/**
 * The shape of details in one line, for example `{"path":"/content/0","reason","block_id"?}`. A question mark follows
 * the name of an optional member; a value is an example, or all allowed values. The shapes of a union are joined by
 * "or". @internal
 */
export function detailsNotation(details: TSchema): string {
  if (IsUnion(details)) return details.anyOf.map(detailsNotation).join(' or ')
  if (!IsObject(details)) return ''
  const { properties, required = [] }: { properties: Record<string, TSchema>; required?: readonly string[] } = details
  const members = Object.entries(properties).map(([name, schema]) => {
    const value = valueNotation(schema)
    return `"${name}"${required.includes(name) ? '' : '?'}${value === '' ? '' : `:${value}`}`
  })
  return `{${members.join(',')}}`
}

function valueNotation(schema: TSchema & { examples?: unknown[]; maxItems?: number }): string {
  const { examples, maxItems } = schema
  if (examples !== undefined) return JSON.stringify(examples[0])
  if (IsEnum(schema)) return `"${schema.enum.join('|')}"`
  if (IsObject(schema)) return detailsNotation(schema)
  if (!IsArray(schema)) return ''
  return `[${maxItems === undefined ? valueNotation(schema.items) || '…' : `≤${maxItems}`}]`
}
