import { type DocumentLabels, mergedFrontMatter } from '../../documents/front-matter.ts'
import { canonicalJson } from '../canonical.ts'
import type { BodyNode, Warning } from '../document.ts'

/**
 * The lines of a body as they are rendered, and the text that stands above the rendered Markdown. `warnings` say what
 * is written in another form.
 */
export type LabelledLines = { lines: readonly string[]; above: string; warnings: Warning[] }

/**
 * Puts tags and properties into the front matter of a body. A body without frontmatter gets lines above it. Frontmatter
 * that is no mapping of YAML is written as code below.
 */
export function withFrontMatter(lines: readonly string[], labels: DocumentLabels): LabelledLines {
  if (labels.tags.length === 0 && Object.keys(labels.properties).length === 0) return { lines, above: '', warnings: [] }
  const [first = '', ...others] = lines
  const node = first.endsWith('"type":"frontmatter"}') ? (JSON.parse(first) as BodyNode) : null
  if (node === null) return { lines, above: opening(labels), warnings: [] }
  const { id, yaml } = node.attrs as { id: string; yaml: string }
  const merged = mergedFrontMatter(yaml, labels)
  if (merged !== null) {
    const attrs = { ...node.attrs, yaml: merged.trimEnd() }
    return { lines: [canonicalJson({ ...node, attrs }), ...others], above: '', warnings: [] }
  }
  const code = { type: 'codeBlock', attrs: { id, language: 'yaml' }, content: [{ type: 'text', text: yaml }] }
  const message = 'Frontmatter that is no mapping of YAML is written as code.'
  return {
    lines: [canonicalJson(yaml === '' ? { ...code, content: [] } : code), ...others],
    above: opening(labels),
    warnings: [{ code: 'node_simplified', message, block_id: id }],
  }
}

function opening(labels: DocumentLabels): string {
  const yaml = mergedFrontMatter('', labels) ?? ''
  return yaml === '' ? '' : `---\n${yaml}---\n\n`
}
