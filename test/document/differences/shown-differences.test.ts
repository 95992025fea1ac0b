import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { showDifference, shownDifference } from '../../../api/pages/history/difference-html.ts'
import { mergedBlock } from '../../../api/pages/history/merged-block.ts'
import { documentToLines } from '../../../shared/body/canonical.ts'
import type { BlockNode, BodyNode } from '../../../shared/body/document.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import { computationLoad } from '../../../shared/computations/compute.ts'
import { blockDifferences } from '../../../shared/differences/block-differences.ts'
import type { BodyPair } from '../../../shared/differences/compare.ts'
import { onBehalfOf } from '../../../shared/turns/requester.ts'
import { t } from '../../support/tap.ts'
import { attacks, doorsFor } from '../attacks.ts'
import { doc, node, p, ul } from '../build.ts'
import { anyPair } from './pairs.ts'

t.test('a changed block has the new content beside the deleted, and the old texts beside the inserted', async (t) => {
  let merged = 0
  const isMerged = (from: BlockNode[], to: BlockNode[], hasWords: boolean) => {
    const json = blockDifferences(textsOf(from, to), hasWords ? 1_000_000 : 0)
    return JSON.parse(json).every((difference: Parameters<typeof mergedBlock>[0]) => {
      const both = mergedBlock(difference)
      if (both === null) return difference.op !== 'modified' || difference.before?.type !== difference.after?.type
      merged += 1
      const [before, after] = [difference.before as BlockNode, difference.after as BlockNode]
      return (
        isDeepStrictEqual(oneSide(both.node, 'deleted'), oneSide(after, 'deleted')) &&
        isDeepStrictEqual(textsById(oneSide(both.node, 'inserted')), textsById(oneSide(before, 'inserted')))
      )
    })
  }
  const anyPattern = fc.array(fc.boolean(), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(anyPair, anyPattern, ({ from, to }, pattern) => {
      const hasWords = pattern[0] ?? true
      const fewer = from.content.map((block) => thinned(block, pattern) as BlockNode)
      return (
        isMerged(from.content, to.content, hasWords) &&
        isMerged(from.content, fewer, hasWords) &&
        isMerged(fewer, from.content, hasWords)
      )
    }),
  )
  t.ok(merged > 0)
})

t.test('each change stands where it was, and a removed block where it stood', async (t) => {
  const [a, b, c, d, e, f, g] = doc(...[...'abcdefg'].map((letter) => p(letter))).content as BlockNode[]
  const [n] = doc(p('new')).content
  const { html, counts, left } = show([a, b, c, d, e, f, g], [a, c, d, n, f, g])
  t.strictSame([counts, left], [{ added: 1, removed: 2, modified: 0, moved: 0 }, 0])
  t.equal(
    linesOf(html).join(' | '),
    'a | Removed Paragraph b | c | d | Removed Paragraph e | Added Paragraph new | f | One unchanged block',
  )
  const moved = show([a, b, c, d], [a, d, b, c])
  t.match(linesOf(moved.html).join(' | '), 'a | Moved Paragraph, from place 4 to place 2 d | b | One unchanged block')
})

t.test('a reader sees changed words, parts and attributes', async (t) => {
  const [list, task, picture, title] = doc(
    ul(p('milk'), p('brown bread'), p('tea'), p('salt')),
    node('taskList', {}, node('taskItem', { checked: false }, p('Weigh the calf'))),
    node('image', { src: 'https://example.test/a.png', alt: 'An old elephant at the river' }),
    p('Title'),
  ).content as BlockNode[]
  const items = list?.content as BodyNode[]
  const newList = { ...list, content: [items[2], JSON.parse(JSON.stringify(items[1]).replace('brown', 'white'))] }
  const newTask = JSON.parse(JSON.stringify(task).replace('"checked":false', '"checked":true'))
  const newPicture = JSON.parse(JSON.stringify(picture).replace('old', 'young'))
  const newTitle = { ...title, type: 'heading', attrs: { ...title?.attrs, level: 2 } }
  const { html } = show([list, task, picture, title], [newList, newTask, newPicture, newTitle])
  t.match(html, /<li [^>]*class="deleted"[^>]*><p [^>]*class="deleted"[^>]*><del>milk<\/del>/)
  t.match(html, /<del>salt<\/del>.*white/, 'a removed part stands behind the part before it')
  t.match(html, '<del>brown</del><ins>white</ins> bread')
  t.match(html, 'Order of the parts: <del><bdi>1, 2</bdi></del> → <ins><bdi>2, 1</bdi></ins>')
  t.match(html, 'Task “Weigh the calf”</bdi>, Done: <del><bdi>no</bdi></del> → <ins><bdi>yes</bdi></ins>')
  t.match(html, 'Description: <bdi><span>An </span><del>old</del><ins>young</ins><span> elephant')
  t.match(html, 'Kind: <del><bdi>Paragraph</bdi></del> → <ins><bdi>Heading</bdi></ins>')
  t.match(html, 'Level: <del>none</del> → <ins><bdi>2</bdi></ins>')
})

t.test('what people wrote is never markup of the page', async (t) => {
  const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)>"\'&'
  const blocks = [
    p(hostile),
    node('htmlBlock', { html: hostile }),
    p('a', node('htmlInline', { html: '<b onclick="alert(1)">' }), hostile),
    node('image', { src: '/x', alt: hostile }),
    node('frontmatter', { yaml: hostile }),
    ...attacks.slice(0, 20).flatMap(doorsFor),
  ]
  const frontmatterFirst = [blocks[4], ...blocks.filter((_, index) => index !== 4)] as BodyNode[]
  const { content } = doc(...frontmatterFirst)
  const changed = content.map((block) => JSON.parse(JSON.stringify(block).replaceAll('alert(1)', 'alert(2)')))
  for (const [from, to] of [
    [content, changed],
    [content, doc(p('x')).content],
    [doc(p('x')).content, content],
  ] as [BlockNode[], BlockNode[]][]) {
    const { html } = show(from, to)
    t.notMatch(html, /<script|<[^>"]*("[^"]*"[^>"]*)* on\w+=/i)
  }
})

t.test('a large difference does not hold up other requests, and is cut or shown as a whole in words', async (t) => {
  const many = Array.from({ length: 4000 }, (_, number) => p(`${'lorem ipsum '.repeat(20)}${number}`))
  const { content } = doc(...many)
  const changed = content.map((block) => JSON.parse(JSON.stringify(block).replaceAll('lorem', 'dolor')))
  const pair = pairOf(content, changed)
  const before = computationLoad().ends.done
  const shown = await shownDifference(pair, '/d/doc_1')
  t.equal(computationLoad().ends.done, before + 1, 'a thread has compared them')
  t.equal(shown?.counts.modified, 4000)
  t.ok((shown?.html.length ?? Number.POSITIVE_INFINITY) <= 1_500_000)
  t.ok((shown?.left ?? 0) > 1000, 'the page says how much it left out')
  const [small, large] = doc(p('small'), p('x'.repeat(2_000_000))).content as BlockNode[]
  const [smaller, larger] = doc(p('smaller'), p('y'.repeat(2_000_000))).content as BlockNode[]
  const beside = show([large, small], [large, smaller])
  t.match(
    linesOf(beside.html).join(' | '),
    /^One unchanged block \| Removed Paragraph small \| Added Paragraph smaller$/,
  )
  const within = show([large, small], [larger, smaller])
  t.equal(within.left, 2, 'what has no room does not hide what comes behind it')
  t.match(within.html, 'smaller')
  const limit = { mostMs: 0 }
  t.equal(await onBehalfOf('usr_1', () => shownDifference(pair, '/d/doc_1'), limit), null)
})

function show(from: unknown[], to: unknown[]) {
  const texts = textsOf(from as BlockNode[], to as BlockNode[])
  return showDifference({ from: texts.from.join('\n'), to: texts.to.join('\n'), path: '/d/doc_1', roomForWords: 1e6 })
}

function textsOf(from: BlockNode[], to: BlockNode[]) {
  return { from: documentToLines({ type: 'doc', content: from }), to: documentToLines({ type: 'doc', content: to }) }
}

function pairOf(from: BlockNode[], to: BlockNode[]): BodyPair {
  const side = { seq: 'current' as const, version: '' }
  const texts = textsOf(from, to)
  return {
    heading: { document_id: 'doc_1', from: side, to: side },
    texts: { from: texts.from.join('\n'), to: texts.to.join('\n') },
  }
}

// The text of each item of a difference.
function linesOf(html: string): string[] {
  return html
    .split('</li>\n')
    .map((item) =>
      item
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim()
        .replaceAll(' ,', ','),
    )
    .filter((line) => line !== '')
}

// The block without some of the parts in it.
function thinned(block: BodyNode, pattern: readonly boolean[]): BodyNode {
  if (block.content === undefined || isTextblock(block.type)) return block
  const kept = block.content.filter((_, index) => pattern[index % pattern.length])
  return { ...block, content: kept.map((part) => thinned(part, pattern.toReversed())) }
}

type Change = 'inserted' | 'deleted'

// The block without what has the change, and without the signs of changes.
function oneSide(block: BodyNode, without: Change): BodyNode {
  const { change: _, ...attrs } = block.attrs ?? {}
  const children = block.content
    ?.filter((child) => child.attrs?.['change'] !== without && !child.marks?.some(({ type }) => type === without))
    .map((child) => oneSide(child, without))
  const marks = block.marks?.filter(({ type }) => type !== 'inserted' && type !== 'deleted')
  return {
    type: block.type,
    ...(Object.keys(attrs).length > 0 && { attrs }),
    ...(marks && marks.length > 0 && { marks }),
    ...(block.text !== undefined && { text: block.text }),
    ...(children && children.length > 0 && { content: isTextblock(block.type) ? joined(children) : children }),
  }
}

// Neighbouring texts with the same marks as one text.
function joined(inline: BodyNode[]): BodyNode[] {
  const result: BodyNode[] = []
  for (const child of inline) {
    const last = result.at(-1)
    const isSame = last?.type === 'text' && child.type === 'text' && isDeepStrictEqual(last.marks, child.marks)
    if (last !== undefined && isSame) result[result.length - 1] = { ...last, text: `${last.text}${child.text}` }
    else result.push(child)
  }
  return result
}

function textsById(block: BodyNode): Map<string, BodyNode[]> {
  const texts = new Map<string, BodyNode[]>()
  const visit = ({ type, attrs, content = [] }: BodyNode): void => {
    if (isTextblock(type)) texts.set(String(attrs?.['id']), content)
    else for (const child of content) visit(child)
  }
  visit(block)
  return new Map([...texts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
