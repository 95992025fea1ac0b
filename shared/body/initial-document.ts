import type { DocNode } from './document.ts'
import { type Normalised, normaliseDocument } from './normalise.ts'

/**
 * The body of a document that is created without content: one empty paragraph. A spreadsheet gets a table of three by
 * three cells with a header row.
 */
export function initialDocument(type: 'document' | 'spreadsheet'): Normalised<DocNode> {
  const content = type === 'document' ? [] : [table(3, 3)]
  return normaliseDocument({ type: 'doc', content }, { from: 'json' })
}

function table(rows: number, columns: number): object {
  const cell = (type: string) => ({ type, content: [{ type: 'paragraph' }] })
  const row = (type: string) => ({ type: 'tableRow', content: Array.from({ length: columns }, () => cell(type)) })
  return {
    type: 'table',
    content: Array.from({ length: rows }, (_, index) => row(index === 0 ? 'tableHeader' : 'tableCell')),
  }
}
