import fc from 'fast-check'
import { joinMarkdown, type MarkdownBlock, splitMarkdown } from '../../../shared/cli/sync/blocks.ts'
import { mergeMarkdown } from '../../../shared/cli/sync/merge.ts'
import { t } from '../../support/tap.ts'

const idOf = (letter: string) => `block_${letter.toUpperCase().padStart(26, '0')}`
const block = (letter: string, text: string): MarkdownBlock => ({ id: idOf(letter), text })
const loose = (text: string): MarkdownBlock => ({ id: null, text })
const text = (...blocks: MarkdownBlock[]) => joinMarkdown({ frontMatter: null, blocks })
const [a, b, c] = [block('a', 'Ants'), block('b', 'Bees'), block('c', 'Cows')]
const base = text(a, b, c)

t.test('changes of different blocks are both kept without a question', async (t) => {
  const mine = text(block('a', 'Ants walk'), b, c)
  const theirs = text(a, b, block('c', 'Cows eat'), block('d', 'Dogs'))
  const { merged, conflicts } = mergeMarkdown({ base, mine, theirs })
  t.equal(merged, text(block('a', 'Ants walk'), b, block('c', 'Cows eat'), block('d', 'Dogs')))
  t.strictSame(conflicts, [])
})

t.test('of a block that both have changed both versions are kept', async (t) => {
  const mine = text(block('a', 'Ants walk'), block('b', 'Bees sing'), c)
  const theirs = text(a, block('b', 'Bees fly'), c)
  const merge = mergeMarkdown({ base, mine, theirs })
  t.equal(merge.merged, text(block('a', 'Ants walk'), block('b', 'Bees fly'), c))
  t.equal(merge.mine, text(block('a', 'Ants walk'), block('b', 'Bees sing'), c))
  t.strictSame(merge.conflicts, [{ block_id: b.id, base: 'Bees', mine: 'Bees sing', theirs: 'Bees fly' }])
})

t.test('a deleted block stays deleted unless the other side has changed it', async (t) => {
  t.equal(mergeMarkdown({ base, mine: text(a, c), theirs: base }).merged, text(a, c))
  t.equal(mergeMarkdown({ base, mine: base, theirs: text(a, c) }).merged, text(a, c))
  const changed = text(a, block('b', 'Bees fly'), c)
  for (const [mine, theirs] of [
    [text(a, c), changed],
    [changed, text(a, c)],
  ] as const) {
    t.strictSame(mergeMarkdown({ base, mine, theirs }), { merged: changed, mine: changed, conflicts: [] })
  }
})

t.test('new text stays behind the block above it, even when that block is deleted', async (t) => {
  const mine = text(a, loose('Apes'), b, c)
  const merge = (theirs: string) => mergeMarkdown({ base, mine, theirs }).merged
  t.equal(merge(text(block('a', 'Ants walk'), b, c)), text(block('a', 'Ants walk'), loose('Apes'), b, c))
  t.equal(merge(text(b, c)), text(loose('Apes'), b, c))
  t.equal(merge(text(c, a, b)), text(c, a, loose('Apes'), b), 'moved along')
})

t.test('text that both have stands once in the result', async (t) => {
  const theirs = text(a, b, c, block('d', 'Dogs'))
  t.equal(mergeMarkdown({ base, mine: text(a, b, c, loose('Dogs')), theirs }).merged, theirs)
})

t.test('the same words in two places are two texts', async (t) => {
  const none = block('d', 'None.')
  const { merged, conflicts } = mergeMarkdown({
    base,
    mine: text(a, loose('None.'), b, c),
    theirs: text(a, b, none, c),
  })
  t.equal(merged, text(a, loose('None.'), b, none, c))
  t.strictSame(conflicts, [])
  const same = mergeMarkdown({ base, mine: text(a, b, loose('None.'), c), theirs: text(a, b, none, c) })
  t.equal(same.merged, text(a, b, none, c), 'in one place, what both have written stands once')
})

t.test('what was written inside of a list item or footnote stays inside', async (t) => {
  const item = block('a', '1. Ants')
  const longer = block('a', '1. Ants\n\n   They walk.\n\n   ```js\n   run()\n   ```')
  const before = text(item, b, c)
  const theirs = text(item, b, block('c', 'Cows eat'))
  t.equal(
    mergeMarkdown({ base: before, mine: text(longer, b, c), theirs }).merged,
    text(longer, b, block('c', 'Cows eat')),
  )
})

t.test('blocks that one side has moved are moved in the result', async (t) => {
  const mine = text(c, a, b)
  t.equal(
    mergeMarkdown({ base, mine, theirs: text(a, b, block('d', 'Dogs'), c) }).merged,
    text(c, a, b, block('d', 'Dogs')),
  )
  t.equal(mergeMarkdown({ base, mine, theirs: text(b, a, c) }).merged, text(b, a, c), 'theirs counts')
})

t.test('without a common state nothing is taken away', async (t) => {
  const { merged, conflicts } = mergeMarkdown({ base: null, mine: text(a, block('b', 'Bats')), theirs: text(b, c) })
  t.equal(merged, text(a, b, c))
  t.match(conflicts, [{ base: null, mine: 'Bats', theirs: 'Bees' }])
})

t.test('front matter is merged as a whole', async (t) => {
  const withYaml = (yaml: string | null) => joinMarkdown({ frontMatter: yaml, blocks: [a] })
  const merge = mergeMarkdown({ base: withYaml('x: 1\n'), mine: withYaml('x: 2\n'), theirs: withYaml('x: 3\n') })
  t.equal(merge.merged, withYaml('x: 3\n'))
  t.equal(merge.mine, withYaml('x: 2\n'))
  t.match(merge.conflicts, [{ block_id: 'frontmatter' }])
  t.equal(mergeMarkdown({ base: withYaml('x: 1\n'), mine: withYaml(null), theirs: withYaml('x: 1\n') }).merged, text(a))
})

t.test('an anchor in fenced code is text, and a second anchor of a block makes no second block', async (t) => {
  const anchor = `<!-- block=${idOf('b')} -->`
  const code = `\`\`\`text\n${anchor}\n# Water\n\`\`\``
  t.strictSame(splitMarkdown(text(block('a', code), c)).blocks, [block('a', code), c])
  t.strictSame(splitMarkdown(`${anchor}\nOne\n${anchor}\nTwo`).blocks, [block('b', 'One\n\nTwo')])
  const item = block('a', `- \`\`\`\n  ${anchor}\n  \`\`\``)
  t.strictSame(splitMarkdown(text(item, b, c)).blocks, [item, b, c], 'also in code at the beginning of a list item')
  const open = block('a', '> ~~~\n> code')
  t.strictSame(splitMarkdown(text(open, b)).blocks, [open, b], 'code ends with the quote around it')
  t.strictSame(splitMarkdown(`${anchor}\nOne\n\n${anchor}\nTwo\r\n`).blocks, [block('b', 'One\n\nTwo')])
})

const letters = [...'abcdefgh']
const blocksOf = (words: string[]) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...letters), fc.constantFrom(...words)), { selector: ([letter]) => letter })
const textFrom = (blocks: [string, string][]) => text(...blocks.map(([letter, word]) => block(letter, word)))
const side = blocksOf(['one', 'two', 'three']).map(textFrom)
const wordsOf = (markdown: string) => new Map(splitMarkdown(markdown).blocks.map(({ id, text }) => [id, text]))

t.test('whoever has changed nothing gets the version of the other side', async () => {
  fc.assert(
    fc.property(side, side, (base, changed) => {
      const mine = mergeMarkdown({ base, mine: changed, theirs: base })
      const theirs = mergeMarkdown({ base, mine: base, theirs: changed })
      return (
        mine.merged === changed && theirs.merged === changed && mine.conflicts.length + theirs.conflicts.length === 0
      )
    }),
  )
})

t.test('no text is ever lost, invented or doubled by a merge', async (t) => {
  fc.assert(
    fc.property(fc.option(side), side, side, (base, mine, theirs) => {
      const merge = mergeMarkdown({ base, mine, theirs })
      const [before, own, other] = [wordsOf(base ?? ''), wordsOf(mine), wordsOf(theirs)]
      const [merged, kept] = [wordsOf(merge.merged), wordsOf(merge.mine)]
      for (const id of new Set([...own.keys(), ...other.keys()])) {
        const [was, isMine, isTheirs] = [before.get(id), own.get(id), other.get(id)]
        for (const word of [isMine, isTheirs]) {
          if (word === undefined || word === was) continue
          if (merged.get(id) !== word && kept.get(id) !== word) return false
        }
        const isGone =
          was !== undefined &&
          ((isMine === undefined && isTheirs === was) || (isTheirs === undefined && isMine === was))
        if (isGone !== !merged.has(id)) return false
      }
      return (
        [...merged.keys()].every((id) => own.has(id) || other.has(id)) &&
        splitMarkdown(merge.merged).blocks.length === merged.size
      )
    }),
  )
  t.pass()
})
