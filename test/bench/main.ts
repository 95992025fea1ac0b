import { parseArgs } from 'node:util'
import { startSite } from '../support/site.ts'
import { measureAttachments } from './attachments.ts'
import { measureBodies } from './bodies.ts'
import { measureDerived } from './derived.ts'
import { measureExport } from './export.ts'
import { measureFreshness } from './freshness.ts'
import { type Figure, printTable } from './harness.ts'
import { measureHistory } from './history.ts'
import { measureHostile } from './hostile.ts'
import { measureJobs } from './jobs.ts'
import { measureLocalization } from './localization.ts'
import { measureMarkdownImport } from './markdown-import.ts'
import { measureProcesses } from './processes.ts'
import { measureSearch } from './search.ts'
import { measureStreams } from './streams.ts'
import { measureSummaries } from './summaries.ts'
import { measureWrites } from './writes.ts'

/*
 * `npm run bench [-- name…]`: figures of this machine at this moment. What can be compared is compared within one run,
 * in alternating rounds; the bars are promises for an idle machine. `--documents` is the size of the corpus of `search`,
 * 10,000 by default; its bars are meant for that and for 50,000, which takes a quarter of an hour. `--files` is how
 * many Markdown files `derived` extracts candidates of, 200 by default; its figure is meant for 1,000. `export` exports
 * `--documents` documents, `summaries` reads the tree of as many, 2,000 by default; their figures are meant for 10,000.
 * `history` lets the service rest for `--seconds`, 60 by default, behind up to `--writes`, 1,000,000 by default; a minute in
 * which sweeps run, every fifth, is busier than the others. `hostile` attacks the service for `--seconds`, 60 by default;
 * with `--growth` it instead looks for readers of user text whose work grows faster than the text, which takes hours.
 */

const measurements = {
  writes: measureWrites,
  bodies: measureBodies,
  markdown: measureMarkdownImport,
  jobs: measureJobs,
  history: measureHistory,
  freshness: measureFreshness,
  derived: measureDerived,
  processes: measureProcesses,
  export: measureExport,
  attachments: measureAttachments,
  search: measureSearch,
  streams: measureStreams,
  summaries: measureSummaries,
  localization: measureLocalization,
  hostile: measureHostile,
}

const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    documents: { type: 'string' },
    files: { type: 'string', default: '200' },
    writes: { type: 'string' },
    seconds: { type: 'string' },
    growth: { type: 'boolean' },
  },
})
const options = {
  ...(values.documents && { documents: Number(values.documents) }),
  ...(values.growth && { growth: true }),
  files: Number(values.files),
  ...(values.writes && { writes: Number(values.writes) }),
  ...(values.seconds && { seconds: Number(values.seconds) }),
}
const unknown = named.filter((name) => !Object.hasOwn(measurements, name))
if (unknown.length > 0)
  throw new Error(`There is no ${unknown.join(', ')}; there are ${Object.keys(measurements).join(', ')}`)

const figures: Figure[] = []
for (const [name, measure] of Object.entries(measurements)) {
  if (named.length > 0 && !named.includes(name)) continue
  const ends: (() => unknown)[] = []
  try {
    figures.push(...(await measure(await startSite({ teardown: (end) => ends.unshift(end) }), options)))
  } finally {
    for (const end of ends) await end()
  }
}
printTable(figures)
