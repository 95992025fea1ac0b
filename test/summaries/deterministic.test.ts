import fc from 'fast-check'
import { documentToLines } from '../../shared/body/canonical.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { summariseChildren, summariseDigest } from '../../shared/summaries/deterministic.ts'
import { digestOf } from '../../shared/summaries/digests.ts'
import { plainAnswer, truncate } from '../../shared/summaries/plain.ts'
import { passagesOf, rankPassages } from '../../shared/summaries/query-answer.ts'
import { sectionOf } from '../../shared/summaries/section.ts'
import { anyDocument } from '../document/random.ts'
import { anyCharacter } from '../support/any-character.ts'
import { markdownFiles } from '../support/markdown-files.ts'
import { onlyLong } from '../support/run-options.ts'
import { t } from '../support/tap.ts'

// The characters that remain of Markdown that was read wrongly. Code keeps such characters, so it is left out.
const residue =
  /\]\((?:https?:|#|\.|\/)|^#{1,6} |^```|^[-*+] |<!--|<\/?(?:div|p|img|a|br|h[1-6]|table|details|summary|sub|picture)\b[^>]*>/im

t.test(
  'three hundred files that people wrote have summaries that say something, in plain text',
  onlyLong,
  async (t) => {
    const files = markdownFiles(300)
    t.equal(files.length, 300)
    for (const file of files) {
      const document = fromMarkdown(withoutCode(file.text)).result
      const lines = documentToLines(document)
      const summarise = () => summariseDigest({ documentId: 'doc_1', title: file.title, digest: digestOf(lines) })
      const summary = summarise()
      const name = `${file.package} ${file.title}`
      const length = Array.from(summary.text).length
      const speaks = document.content.some(({ type }) => type === 'paragraph')
      t.ok(length > (speaks ? file.title.length : 0), `${name} says something`)
      t.ok(length <= 4000, `${name} is short`)
      t.notMatch(summary.text, residue, `${name} is plain`)
      t.same(summarise(), summary, `${name} is the same again`)
      const ids = new Set(document.content.map(({ attrs }) => attrs.id))
      t.ok(
        summary.source_block_ids.every((id) => ids.has(id)),
        `${name} names its blocks`,
      )
    }
  },
)

t.test('whatever a document holds, its summary stays within its bounds', async () => {
  fc.assert(
    fc.property(anyDocument, fc.string({ unit: 'grapheme' }), (document, title) => {
      const lines = documentToLines(document)
      const { text, source_block_ids, coverage } = summariseDigest({
        documentId: 'doc_1',
        title: `T${title}`,
        digest: digestOf(lines),
      })
      return (
        text !== '' &&
        text.isWellFormed() &&
        Array.from(text).length <= 4000 &&
        source_block_ids.length <= 200 &&
        new Set(source_block_ids).size === source_block_ids.length &&
        coverage.ratio >= 0 &&
        coverage.ratio <= 1 &&
        coverage.covered_blocks <= coverage.total_blocks
      )
    }),
  )
})

t.test('the sections of the first level and what comes before them are the whole document', async () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const lines = documentToLines(document)
      return document.content.every((block, position) => {
        const section = sectionOf(lines, block.attrs.id)
        if (block.type !== 'heading') return section === null
        return section?.lines.every((line, index) => line === lines[position + index])
      })
    }),
  )
})

t.test('what answers a question is found in any document, and stands in it', async () => {
  fc.assert(
    fc.property(anyDocument, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (document, q) => {
      const passages = passagesOf('doc_1', documentToLines(document))
      const answers = rankPassages(passages, q)
      return answers.every(
        ({ blockId, first, text, score }) =>
          score >= 0 &&
          first.start < first.end &&
          first.end <= text.length &&
          passages.some((passage) => passage.blockId === blockId),
      )
    }),
  )
})

t.test('a folder with any children is told within its bounds, and each of the first fifty is named', async () => {
  const label = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }).map((text) => `L${text}`)
  const digest = label.map((text) => {
    return { block_count: 3, headings: [], opening: { block_id: 'block_1', text }, truncated: false }
  })
  const child = fc.oneof(
    fc.record({ type: fc.constant('document' as const), id: fc.uuid(), label, digest }),
    fc.record({ type: fc.constant('folder' as const), label, titles: fc.array(label, { maxLength: 12 }) }),
  )
  fc.assert(
    fc.property(label, fc.array(child, { maxLength: 51, size: 'max' }), (name, children) => {
      const { text } = summariseChildren({ name, children, documentCount: children.length })
      const [, ...lines] = text.split('\n').filter((line) => line !== '')
      return Array.from(text).length <= 4000 && text.isWellFormed() && lines.length === Math.min(50, children.length)
    }),
  )
})

t.test('an answer of a model is shown as text and nothing else', async (t) => {
  t.equal(
    plainAnswer('a\u0000b\u001b[31m\r\n\r\n\r\n\r\nc \u202eevil\u2066 \ud800 \u{1f469}\u200d\u{1f467}\t\n', 100),
    'ab[31m\n\nc evil \ufffd 👩‍👧',
  )
  t.equal(plainAnswer('\u200b\u0007\n', 100), '')
  t.equal(truncate('👩‍👩‍👧abc', 5), '👩‍👩…')
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (text) => {
      const shown = plainAnswer(text, 50)
      return Array.from(shown).length <= 50 && shown.isWellFormed() && !/[^\P{C}\n\t\u200c\u200d]/u.test(shown)
    }),
  )
})

function withoutCode(markdown: string): string {
  return markdown.replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1?\2[^\n]*$/gm, '').replace(/(`+)[^`]+\1/g, 'code')
}
