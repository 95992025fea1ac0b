/*
 * The numbers of ranking, each with the figure it comes from. Two corpora were used, on two cores:
 *
 * * Debian: 50,000 documents, 1,016,000 blocks of Debian documentation in some twenty languages (November 2026).
 * * Bench: the corpus of `npm run bench -- search`, Markdown and documentation comments, with 10,000 documents and
 * 230,000 blocks; large stands for 50,000 documents and 1,150,000 blocks.
 *
 * A number without a figure says that it was chosen. A change of `referenceLength`, `tierThresholds` or `titleTiers`
 * changes what is indexed, and needs a new `tokeniserEpoch`. Before and after a change of any other number, run the
 * bench.
 */

/** The parameters of BM25: the usual values of the literature (Robertson & Zaragoza 2009), and part of the contract. */
export const bm25 = { k1: 1.2, b: 0.75 } as const

/** The factor by which a field multiplies BM25: part of the contract. */
export const fieldWeights = { title: 2, heading: 1.3, body: 1 } as const

/**
 * The length in tokens for which impact tiers are computed. The length is constant, so that the tiers of the index
 * never drift. This length also serves as the average length where PostgreSQL has no statistics. The average of bench
 * was 18 tokens (2026-11-21).
 */
export const referenceLength = 20

/**
 * The impacts, field weight included, from which on a word is in tier 1, 2, 3 and 4. The first three are to hold about
 * 12, 3 and 0.6 % of all blocks with a word: with these shares the ten best hits of one common word overlapped with
 * exact BM25 by 95 % (Debian). In the body blocks of bench with one of the 20 commonest words they hold 8, 2 and 0.4 %
 * (100,071 blocks, 2026-11-22). Tier 4 is for titles of few words. Without it 3,700 blocks were ranked for a common
 * word of bench, large, and three quarters of them were titles (2026-11-21).
 */
export const tierThresholds = [1.3, 1.5, 1.65, 2.9] as const

/**
 * Every word of a title belongs to the tiers up to this tier, whatever its impact. The impact of most words in titles
 * would suffice anyway. So a title that is in none of these tiers of a word does not contain the word. The upper bound
 * may therefore ignore such titles.
 */
export const titleTiers = 3

/**
 * The most blocks that one pass ranks; if more blocks match, the pass is not exact. Ranking a block takes PostgreSQL
 * some 3 µs, so 5,000 blocks take about 15 ms (Debian: 13 ms at the median).
 */
export const candidateLimit = 5000

/**
 * The most blocks that are counted for a term. Chosen: with more blocks, the rarity of so frequent a term differs
 * little.
 */
export const matchingLimit = 2000

/**
 * A term that the statistics place in at least this many blocks is not counted in each search. Counting the matches of
 * a word costs as much as ranking them (bench, 2026-11-21).
 */
export const estimatedFrom = 500

/**
 * The bounds of what ranking reads first. The kinds of query are: one term, all terms required, and relaxed, where some
 * of the terms suffice. Where at most `few` matches are estimated, all matches are candidates. Otherwise ranking starts
 * with the widest cut that is estimated to have at most `most` candidates. In a relaxed search, `few` bounds the blocks
 * with two of the rarest terms. There `most` bounds the sum of the lists that the index reads, one list a term.
 *
 * One common word took PostgreSQL 11 ms of processor time with 2,500 candidates and 5 ms with 1,500, for the same ten
 * best hits. A cut for several words may hold too few matches, which costs another pass. The relaxed bounds halved the
 * cost of relaxed searches and kept 99 % of the ten best hits (all: bench, 2026-11-21).
 */
export const candidateBounds = {
  single: { few: 1000, most: 400 },
  all: { few: 2000, most: 500 },
  relaxed: { few: 2000, most: 4000 },
} as const

/**
 * Takes the place of `few` in `candidateBounds` where pairs of the words hold enough matches. Ranking the thousand
 * blocks that match two common words cost three times as much as ranking their pairs (bench, 2026-11-22).
 */
export const fewBesidePairs = 600

/**
 * The first cut may hold this many times the limit of a search, if this product is more than `most` of
 * `candidateBounds`. Chosen.
 */
export const candidatesPerHit = 10

/**
 * A cut is left out if it has more than this fraction of the matches of the next wider cut. Reading the narrower cut
 * would spare little. Chosen.
 */
export const narrowerPart = 0.5

/**
 * The blocks that the lists of a relaxed search may hold together before tiers are used. The list of the most common
 * word is not counted, because the blocks of the other words are looked up in that list. Two of the rarest of six words
 * are found sooner in such lists than over cuts, and no match is missed (bench, 2026-11-21).
 */
export const relaxedListBlocks = 20_000

/**
 * The bounds of a cut by pairs of words. `soonRead`: lists of up to so many blocks together are read so soon that pairs
 * spare nothing. `byTerm`: the most blocks that one word by itself puts into the cut. `byPair`: the most blocks that
 * pairs put into the cut. `spare`: a pair cut is used only if it seems to hold so many times the limit. A cut with too
 * few hits costs another pass. Pairs halved the time of searches for two common words (bench, 2026-11-21).
 */
export const pairBounds = { soonRead: 16_000, byTerm: 150, byPair: 250, spare: 1.5 } as const

/**
 * The part of the blocks with a word that is in tier 1 to 4, where the statistics do not name the tier. The parts are
 * right for common words. A rarer word may stand in titles and headings many times as often (bench, 2026-11-21).
 */
export const usualTierParts = [0.12, 0.04, 0.015, 0.006] as const

/**
 * A word that the statistics do not name is assumed to be this many times as frequent as the rarest named word. Most
 * words without a name there are far rarer, and a search for a rare word then needs one pass (bench, 2026-11-21).
 */
export const unnamedPart = 0.1

/**
 * When the tsquery names the workspaces in scope. It names up to `few` workspaces with less than `partOfFew` of all
 * blocks, and up to `most` workspaces with less than `partOfMany`. With more or larger workspaces, looking at the
 * workspace of each row is cheaper. An OR of 5 scope lexemes took 23 ms, of 30 lexemes 162 ms, of 100 lexemes 775 ms
 * (Debian). For queries with rarer words the parts were chosen.
 */
export const workspaceBounds = { few: 5, partOfFew: 0.5, most: 100, partOfMany: 0.1 } as const

/**
 * The number of hits that a pass fetches beyond the limit. `certain`: PostgreSQL never estimates a score too low.
 * `estimated`: words have several forms. `phrases`: the index finds phrases that the text does not contain. With a
 * limit of the hits of one document, `certainOfDocument` or `estimatedOfDocument` more hits of each are fetched.
 * Chosen.
 */
export const spareHits = {
  certain: 5,
  estimated: 10,
  phrases: 10,
  certainOfDocument: 1,
  estimatedOfDocument: 3,
} as const

/**
 * The part of its weight that a term adds to a hit which lacks the term, where another hit of the same document has it.
 * Chosen: a word in the block itself has to count more.
 */
export const partInDocument = 0.5

/**
 * The blocks that are ranked to find documents whose blocks contain half of the words together. Chosen: matching so
 * many blocks takes Node about 10 ms.
 */
export const blocksOfDocuments = 100

/**
 * What the estimate of a block gains in which a word that is being typed stands as a whole. The gain is more than any
 * score, so that such blocks come before blocks with a mere beginning. Arithmetic: 200 characters have at most 100
 * words, and each word scores at most 4.4 times its rarity, which is below 20.
 */
export const wholeWordsFirst = 10_000

/**
 * The factor by which a score may exceed its estimate. Beyond 25 occurrences of a word, their estimated number is off
 * by up to a tenth. Such an error changes the score by at most 0.5 % (arithmetic: the slope of BM25 there).
 */
export const estimateTolerance = 1.005

/**
 * The cost of a row that is checked for the beginning of a word, in entries of the lists that would name the rows.
 * Checking 12,000 rows took 27 ms, reading the 33,000 entries of `conf` 20 ms (bench, large, 2026-11-22).
 */
export const checkedRowCost = 4

/**
 * If the filters of a search leave at most so many documents, its statement begins with a list of these documents.
 * Otherwise each block is looked up by itself. Chosen.
 */
export const listedDocuments = 2000

/**
 * The most blocks of the lists of words that the first pass of a narrowed search reads. Some of them fail the filters,
 * and are not ranked. Reading a block of a list takes PostgreSQL some 4 µs, and looking up its document as long. Where
 * a list of the documents in scope takes the place of the look-ups, twice as many blocks are read (bench, 2026-11-23).
 */
export const narrowedReads = { listed: 2400, unlisted: 1200 } as const

/**
 * How many blocks of a document are read in the time of one block from the list of a word. The blocks of a document
 * stand beside each other, and those of a list on as many pages as it has blocks (bench, 2026-11-23).
 */
export const blocksForListed = 3

/**
 * If all matches of a search for the newest documents cost at most so many blocks of a list, all are read. With more
 * matches, the hits of a page are usually among the newest documents, of which a window is looked through first.
 * Chosen.
 */
export const newestReads = 2400

/**
 * How many documents a search looks through in the order of their last changes before it looks up all documents that
 * the words name. Reading the blocks of a document of usual length takes some 25 µs, so 500 documents take about 12 ms.
 */
export const newestWindow = 500

/** Milliseconds that each statement of a suggestion may take. Chosen: nobody waits longer for a spelling. */
export const suggestionMs = 1000

/** Milliseconds for which a process keeps the statistics of the index. Chosen, since ANALYZE runs less often. */
export const statisticsMs = 60_000

/**
 * How many scopes with filters a process remembers estimates of. An estimate for a tag of a thousand documents takes 4
 * ms (bench, 2026-11-23). The bound was chosen.
 */
export const keptEstimates = 1000

/**
 * The most forms of a word, and the most words of a phrase, from which PostgreSQL estimates a score. Further forms and
 * words would cost more time for each candidate than they improve its estimate. Chosen.
 */
export const scoredForms = 6
export const scoredSteps = 3

/**
 * The inverse of `ts_rank`. With equal weights, the rank of n occurrences is the sum of 1/i² for i up to n, divided by
 * the sum for all i. So n is about `scale / (one - rank) - shift`: off by less than 0.04 below 25 occurrences, and
 * exact after rounding (arithmetic). `one` is slightly more than 1, since a rank that is rounded up to 1 must not
 * divide by 0.
 */
export const rankInverse = { scale: 0.613, one: 1.0001, shift: 0.58 } as const

/**
 * PostgreSQL stores at most 255 positions of a lexeme. From `occurrences` on, or from its `rank` on, a lexeme may have
 * lost positions. Then every word of the block counts as an occurrence. Chosen: below 255, with a margin.
 */
export const countable = { occurrences: 230, rank: 0.9973 } as const

/**
 * The plan of a search is kept from this many blocks on, and for queries of at most this many words. The plan of a
 * small index would be wrong when the index has grown. Parsing and planning took 2 of the 4 ms of a search (bench,
 * 2026-11-21). A connection keeps at most so many different `statements`, since a plan takes some hundred kilobytes.
 * Statements of narrowed searches are kept up to a lower number. The bounds themselves were chosen.
 */
export const keptPlans = { blocks: 10_000, terms: 4, statements: 100, narrowed: 80 } as const
