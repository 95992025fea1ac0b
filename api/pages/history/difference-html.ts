import type { Static } from 'typebox'
import type { BlockNode, BodyNode, DocNode } from '../../../shared/body/document.ts'
import type { HtmlWriter } from '../../../shared/body/html.ts'
import { element, escapeHtml } from '../../../shared/body/html-elements.ts'
import { linesWithIdsOf } from '../../../shared/body/match-ids.ts'
import { ComputationLimitError, computation } from '../../../shared/computations/computation.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { blockDifferences } from '../../../shared/differences/block-differences.ts'
import type { BodyPair } from '../../../shared/differences/compare.ts'
import { inlineHunks } from '../../../shared/differences/inline-hunks.ts'
import type { BlockDifference } from '../../../shared/differences/schema.ts'
import { publicDocument } from '../../../shared/sharing/public-document.ts'
import { type AttributeChange, typeName } from './attribute-changes.ts'
import { differenceWriter, withoutRawTags } from './block-form.ts'
import { differenceItems } from './difference-items.ts'
import { mergedBlock } from './merged-block.ts'

type Difference = Static<typeof BlockDifference>
type Operation = Difference['op']

/**
 * Two stored bodies, the path of the document's page, below which its pictures have addresses, and the most characters
 * of JSON that the changed words of all blocks take.
 */
type Compared = { from: string; to: string; path: string; roomForWords: number }

/**
 * A difference for readers: HTML that is safe to put into a page, the number of blocks by what happened to them, and
 * the number of changed blocks for which the page had no room.
 */
export type ShownDifference = { html: string; counts: { [op in Operation]: number }; left: number }

// The most characters of HTML of a difference, and of an unchanged block beside a change.
const mostHtml = 1_500_000
const mostBeside = 10_000

// The most characters of JSON that the changed words of a difference on a page take.
const mostWords = 2 * 1024 * 1024

/**
 * Shows what distinguishes two bodies. The blocks are those of the API (api/guide/blocks.md#differences). `path` is the
 * path of the document's page. A thread compares large bodies. Where their words take too much time or memory to
 * compare, changed blocks are shown before and after. Null for bodies that take too much even so.
 */
export async function shownDifference({ texts }: BodyPair, path: string): Promise<ShownDifference | null> {
  for (const roomForWords of [mostWords, 0]) {
    try {
      return await compute(showing, { ...texts, path, roomForWords })
    } catch (error) {
      if (!(error instanceof ComputationLimitError)) throw error
    }
  }
  return null
}

/** Shows what distinguishes two bodies. A thread imports this function by its name. @public */
export function showDifference({ from, to, path, roomForWords }: Compared): ShownDifference {
  const lines = to.split('\n')
  const json = blockDifferences({ from: linesWithIdsOf(from.split('\n'), lines), to: lines }, roomForWords)
  const differences = JSON.parse(json) as Difference[]
  const counts = { added: 0, removed: 0, modified: 0, moved: 0 }
  for (const { op } of differences) counts[op] += 1
  const page = new DifferencePage(path)
  let html = ''
  let shown = 0
  for (const item of differenceItems(differences, lines)) {
    const part = page.item(item)
    if (html.length + part.length > mostHtml) continue
    html += part
    if (item.kind === 'changed') shown += 1
  }
  return { html, counts, left: differences.length - shown }
}

// Two bodies of together so many characters are compared and rendered within 20 ms.
const showing = computation({
  module: import.meta.url,
  run: showDifference,
  isSmall: ({ from, to }) => from.length + to.length <= 8 * 1024,
  cpuMs: ({ from, to }) => Math.min(6000, 1000 + (from.length + to.length) * 0.0025),
})

/** Writes the items of a difference. Each is an item of a list. */
class DifferencePage {
  readonly #path: string
  readonly #writer: HtmlWriter = differenceWriter()

  constructor(path: string) {
    this.#path = path
  }

  item(item: ReturnType<typeof differenceItems>[number]): string {
    if (item.kind === 'gap') return gap(item.blocks)
    if (item.kind === 'same') {
      const block = this.#block(item.block)
      return block.length > mostBeside ? gap(1) : `<li class="same">${prose(block)}</li>\n`
    }
    const { difference } = item
    return `<li class="${difference.op}">${kindOf(difference)}${this.#changed(difference)}</li>\n`
  }

  #changed(difference: Difference): string {
    const { op, before, after } = difference
    if (op === 'moved') return prose(this.#block(after as BlockNode))
    const merged = mergedBlock(difference)
    if (merged !== null) return prose(this.#block(merged.node)) + attributeList(merged.attributes)
    const old = before === null ? '' : element('del', {}, this.#block(before))
    const current = after === null ? '' : element('ins', {}, this.#block(after))
    return prose(old + current)
  }

  #block(node: BodyNode): string {
    if (node.type === 'frontmatter') return this.#writer.write(node)
    const document = { type: 'doc', content: [withoutRawTags(node)] } as DocNode
    const { content } = publicDocument(document, (attachmentId) => `${this.#path}/attachments/${attachmentId}`)
    return content.map((block) => this.#writer.write(block)).join('')
  }
}

const words: { [op in Operation]: string } = {
  added: 'Added',
  removed: 'Removed',
  modified: 'Changed',
  moved: 'Moved',
}

// What happened to a block, with its kind and, if it has moved, its places. Places count from 1.
function kindOf({ op, before, after, old_position: from, new_position: to }: Difference): string {
  const type = typeName((after ?? before)?.type ?? '')
  const isMoved = from !== null && to !== null && op === 'moved'
  const places = isMoved ? `, from place ${from + 1} to place ${to + 1}` : ''
  return `<p class="change"><strong>${words[op]}</strong> <span>${escapeHtml(type)}${places}</span></p>`
}

function attributeList(changes: readonly AttributeChange[]): string {
  if (changes.length === 0) return ''
  const items = changes.map(({ part, name, from, to }) => {
    const heading = `${part === null ? '' : `<bdi>${escapeHtml(part)}</bdi>, `}${escapeHtml(name)}: `
    return element('li', {}, heading + changedText(from, to))
  })
  return element('ul', { class: 'attributes' }, items.join(''))
}

// Longer texts are compared by words.
function changedText(from: string | null, to: string | null): string {
  if (from === null || to === null || !/\s.*\s/s.test(from)) return `${side('del', from)} → ${side('ins', to)}`
  const hunks = inlineHunks([{ type: 'text', text: from }], [{ type: 'text', text: to }])
  const tags = { equal: 'span', delete: 'del', insert: 'ins' }
  return element('bdi', {}, hunks.map(({ op, text }) => element(tags[op], {}, escapeHtml(text))).join(''))
}

function side(tag: 'ins' | 'del', text: string | null): string {
  return element(tag, {}, text === null ? 'none' : element('bdi', {}, escapeHtml(text)))
}

function prose(html: string): string {
  return element('div', { class: 'prose' }, html)
}

function gap(blocks: number): string {
  return `<li class="gap">${blocks === 1 ? 'One unchanged block' : `${blocks} unchanged blocks`}</li>\n`
}
