import { harmlessFilename } from '../../../shared/attachments/filename.ts'
import { attachmentIdOf, isAllowedHref, isAllowedSrc, showsAttachment } from '../../../shared/body/addresses.ts'
import type { BodyNode } from '../../../shared/body/document.ts'
import { fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import {
  indentInlineHtml,
  isHtmlBlock,
  isHtmlInline,
  opensHtmlBlock,
} from '../../../shared/body/markdown/html-syntax.ts'
import { estimateTokens } from '../../../shared/body/read.ts'
import { isSafeColor, sanitizeHtml } from '../../../shared/body/sanitize.ts'
import { wordsOf } from '../../../shared/body/words.ts'
import { repairString } from '../../../shared/body/yjs/repair-values.ts'
import { normaliseName } from '../../../shared/concepts/names.ts'
import { inlineHunks } from '../../../shared/differences/inline-hunks.ts'
import { unifiedText } from '../../../shared/differences/unified-text.ts'
import { attachmentName, directoryName, markdownPath } from '../../../shared/export/names.ts'
import { directoriesOf } from '../../../shared/export/paths.ts'
import { computeContent } from '../../../shared/localization/inline/compute.ts'
import { inlineMarkdown } from '../../../shared/localization/inline/markdown.ts'
import { translateTexts } from '../../../shared/localization/jobs/translate.ts'
import { parseDocumentUri } from '../../../shared/relations/schema.ts'
import { blockVector } from '../../../shared/search/index/vector.ts'
import { parseQuery } from '../../../shared/search/matching/grammar.ts'
import { contextOf, matchTerms } from '../../../shared/search/matching/match.ts'
import { requiredTerms, termQueries } from '../../../shared/search/matching/query.ts'
import { detectLanguage } from '../../../shared/search/text/detect-language.ts'
import { fold, lowerCase, normalise, streamSafe } from '../../../shared/search/text/fold.ts'
import { stemsIn } from '../../../shared/search/text/stems.ts'
import { tokenise } from '../../../shared/search/text/tokenise.ts'
import { summariseByModel } from '../../../shared/summaries/by-model/ask.ts'
import { summariseChildren } from '../../../shared/summaries/deterministic.ts'
import { oneLine, plainAnswer, truncate } from '../../../shared/summaries/plain.ts'
import { rankPassages } from '../../../shared/summaries/query-answer.ts'
import type { Entry } from '../entry.ts'

const languages = ['en', 'de', 'ru']
const longestQuery = 200
// Titles, and names of folders and concepts, are refused before anybody reads them when they are longer.
const longestName = 500

/** Texts that workers and the API look at for their words, their addresses, their HTML. */
export const textEntries: readonly Entry[] = [
  {
    name: 'words',
    input: (text) => text,
    isNative: true,
    uses: {
      normalise: (text) => normalise(text).text.length,
      fold: (text) => fold(streamSafe(text)),
      lowerCase: (text) => lowerCase(text),
      detectLanguage: (text) => detectLanguage(text),
      contextOf: (text) => contextOf(text, { start: text.length / 2, end: text.length / 2 + 1 }),
    },
  },
  {
    name: 'words in their forms',
    input: (text) => text,
    uses: {
      tokenise: (text) => tokenise(text, languages),
      wordsOf: (text) => wordsOf(text),
      'hunks of a text whose every second word has changed': (text) => inlineHunks(inline(text), inline(changed(text))),
      'unified difference of a text whose every second word has changed': (text) =>
        unifiedText({ from: onePerLine(text), to: onePerLine(changed(text)) }, { from: 'a', to: 'b' }),
      stemsIn: (text) => stemsIn('en', text),
      blockVector: (text) => blockVector({ text, language: 'en', isTitle: false, isHeading: false, scopes: [] }),
      matchTerms: (text) => matchTerms(text, { query: parseQuery('a "word b" 知識'), languages }),
      'matches of its own words': (text) =>
        matchTerms(text, { query: parseQuery(text.slice(0, longestQuery)), languages }),
      rankPassages: (text) =>
        rankPassages([{ documentId: 'doc_1', blockId: 'block_1', isHeading: false, text }], 'a "word b" 知識'),
    },
  },
  {
    name: 'HTML',
    input: (text) => text,
    uses: {
      sanitizeHtml: (text) => sanitizeHtml(text),
      isHtmlBlock: (text) => isHtmlBlock(text, false),
      isLastHtmlBlock: (text) => isHtmlBlock(text, true),
      isHtmlInline: (text) => isHtmlInline(text),
      opensHtmlBlock: (text) => opensHtmlBlock(text, false),
      indentInlineHtml: (text) => indentInlineHtml(text),
    },
  },
  {
    name: 'texts',
    input: (text) => text,
    isNative: true,
    uses: {
      oneLine: (text) => oneLine(text),
      plainAnswer: (text) => plainAnswer(text, 4000),
      cut: (text) => truncate(text, 2000),
      'cut nearly all': (text) => truncate(text, text.length - 1),
      estimateTokens: (text) => estimateTokens(text),
      repairString: (text) => repairString(text),
      showsAttachment: (text) => showsAttachment(text, 'att_1'),
      isAllowedHref: (text) => isAllowedHref(text),
      isAllowedSrc: (text) => isAllowedSrc(text),
      attachmentIdOf: (text) => attachmentIdOf(text),
      parseDocumentUri: (text) => parseDocumentUri(text),
      isSafeColor: (text) => isSafeColor(text),
      'summary of children': (text) =>
        summariseChildren({
          name: text,
          children: [{ type: 'folder', label: text, titles: [text] }],
          documentCount: 1,
        }),
    },
  },
  {
    name: 'answers of a model',
    input: (text) => text,
    uses: {
      summariseByModel: (text) =>
        summariseByModel(async () => text, { model: 'm', material: { kind: 'document', title: text, texts: [text] } }),
      'answer as JSON': (text) => translated('a *b* c', text),
      'translations in JSON': (text) => translated('a *b* c', answerOf([text])),
      'translations in much JSON': (text) => translated('a *b* c', answerOf(text.match(/.{1,8}/gsu) ?? [])),
      'translated prose': (text) => translated('a', answerOf([text])),
    },
  },
  {
    name: 'a short text to translate and its translation',
    input: (text) => contentOf(text),
    uses: {
      inlineMarkdown: (content) => inlineMarkdown([content]),
      translatedContent: (content) => {
        const [markdown = ''] = inlineMarkdown([content])
        return computeContent({
          inline: { markdown, tagged: { tags: [], name: 'x' }, original: content },
          translation: markdown,
        })
      },
      'translation that is longer': (content) =>
        computeContent({
          inline: { markdown: 'a', tagged: { tags: [], name: 'x' }, original: [{ type: 'text', text: 'a *' }] },
          translation: inlineMarkdown([content])[0] ?? '',
        }),
    },
    // Longer texts are parsed in a thread of their own, by the parser that has an entry of its own.
    longest: 2000,
  },
  {
    name: 'a query',
    input: (text) => text,
    uses: {
      parseQuery: (text) => parseQuery(text),
      parseOperators: (text) => parseQuery(text, { syntax: 'operators', typing: true }),
      requiredTerms: (text) => requiredTerms(parseQuery(text), languages),
      termQueries: (text) => termQueries(parseQuery(text), languages),
    },
    longest: longestQuery,
  },
  {
    name: 'names',
    input: (text) => text,
    isNative: true,
    uses: {
      normaliseName: (text) => normaliseName(text),
      directoryName: (text) => directoryName(text),
      attachmentName: (text) => attachmentName(`${text}.pdf`),
      markdownPath: (text) => markdownPath({ directory: 'markdown', title: text, id: 'doc_1', mark: '' }),
    },
    longest: longestName,
  },
  {
    name: 'a file name in a header',
    input: (text) => text,
    isNative: true,
    uses: {
      harmlessFilename: (text) => harmlessFilename(text),
      'harmlessFilename with an extension': (text) => harmlessFilename(`${text}.pdf`),
    },
    // The header of a part has 16 kB, in which there are half as many marks.
    longest: 8192,
  },
  {
    name: 'names of folders',
    input: (text) =>
      (text.match(/.{1,4}/gsu) ?? []).map((name, index) => ({
        id: index + 1,
        parent_id: index % 3 === 0 ? null : Math.ceil(index / 3),
        name,
      })),
    uses: { directoriesOf: (folders) => directoriesOf(folders).size },
  },
]

function answerOf(texts: readonly string[]): string {
  return JSON.stringify({ translations: texts.map((text, index) => ({ id: `u${index}`, text })) })
}

function translated(source: string, answer: string): Promise<unknown> {
  const content = contentOf(source)
  const request = { model: 'm', source_locale: 'en', target_locale: 'de', ask: async () => answer }
  return translateTexts([{ unit_id: 'u0', content }], request)
}

/** The inline content that a text stands for as Markdown. */
function contentOf(text: string): BodyNode[] {
  const [block] = fromMarkdown(text).result.content
  return block?.type === 'paragraph' ? (block.content ?? []) : []
}

function inline(text: string): BodyNode[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function changed(text: string): string {
  return wordsOf(text)
    .map((word, index) => (index % 4 === 0 ? `${word}x` : word))
    .join('')
}

function onePerLine(text: string): string {
  return wordsOf(text)
    .map((word) => `${word.replaceAll('\n', ' ')}\n`)
    .join('')
}
