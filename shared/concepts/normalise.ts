/** The form in which names, aliases and queries are compared (decisions 2.10). */
export function normaliseName(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/gu, ' ').toLowerCase()
}
