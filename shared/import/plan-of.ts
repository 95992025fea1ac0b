import { manifestName, planOfExport } from './export-plan.ts'
import { planOfMarkdown } from './markdown-plan.ts'
import type { Plan } from './plan.ts'
import type { Source } from './source.ts'

/** What is to be made of a source: what its manifest says, or else a document of each Markdown file. */
export function planOf(source: Source): Promise<Plan> {
  return source.names.has(manifestName) ? planOfExport(source) : planOfMarkdown(source)
}
