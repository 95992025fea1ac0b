import { type CatalogueEntry, errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../../shared/errors/errors.ts'
import { guidePlaceOf } from '../../http/error-chapters.ts'
import { errorAnchor, errorType, statusesOf } from '../../http/errors.ts'
import { table } from './table.ts'

/** The catalogue as a table: status with the anchor of the code, code, type, meaning, shape of the details. */
export function errorTable(): string {
  const entries = Object.entries(errorCatalogue) as [ErrorCode, CatalogueEntry][]
  return table({
    head: ['Status', 'Code', 'Type', 'Meaning', '`error.details`'],
    rows: entries.map(([code, { message, details }]) => [
      `<a id="${errorAnchor(code)}"></a>${statusesOf(code).join(' or ')}`,
      `\`${code}\``,
      `\`${errorType(statusesOf(code)[0] ?? 500)}\``,
      meaningOf(code, message),
      details === undefined ? '–' : `\`${details}\``,
    ]),
  })
}

function meaningOf(code: ErrorCode, message: string): string {
  const place = guidePlaceOf(code)
  return place === undefined ? message : `${message} [Guide](/guide/${place})`
}
