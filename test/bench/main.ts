import { runCommandLine, UsageError } from '../../shared/process/command-line.ts'
import { startSite } from '../support/site.ts'
import { measureAgents } from './agents.ts'
import { measureAttachments } from './attachments.ts'
import { measureBodies } from './bodies.ts'
import { measureCollab } from './collab.ts'
import { measureDerived } from './derived.ts'
import { measureDifferences } from './differences.ts'
import { measureEditor } from './editor.ts'
import { measureExport } from './export.ts'
import { measureFollow } from './follow.ts'
import { measureFreshness } from './freshness.ts'
import { measureGrowth } from './growth.ts'
import { type Figure, printTable } from './harness.ts'
import { measureHistory } from './history.ts'
import { measureHostile } from './hostile.ts'
import { measureJobs } from './jobs.ts'
import { measureLocalization } from './localization.ts'
import { measureMarkdownImport } from './markdown-import.ts'
import { measureMix } from './mix.ts'
import { measureParallel } from './parallel.ts'
import { measureProcesses } from './processes.ts'
import { measureRelevance } from './relevance.ts'
import { measureSearch } from './search.ts'
import { measureNarrowed } from './search-parameters.ts'
import { measureSeveral } from './several.ts'
import { measureStreams } from './streams.ts'
import { measureSummaries } from './summaries.ts'
import { measureSync } from './sync.ts'
import { measureTrash } from './trash.ts'
import { measureWrites } from './writes.ts'

const measurements = {
  writes: measureWrites,
  mix: measureMix,
  parallel: measureParallel,
  follow: measureFollow,
  growth: measureGrowth,
  bodies: measureBodies,
  diff: measureDifferences,
  several: measureSeveral,
  markdown: measureMarkdownImport,
  jobs: measureJobs,
  history: measureHistory,
  freshness: measureFreshness,
  derived: measureDerived,
  processes: measureProcesses,
  export: measureExport,
  attachments: measureAttachments,
  search: measureSearch,
  narrowed: measureNarrowed,
  relevance: measureRelevance,
  streams: measureStreams,
  summaries: measureSummaries,
  localization: measureLocalization,
  trash: measureTrash,
  collab: measureCollab,
  editor: measureEditor,
  hostile: measureHostile,
  agents: measureAgents,
  sync: measureSync,
}

const usage = `usage: npm run bench [-- NAME…] [options]

Figures of this machine at this moment. What can be compared is compared within one run, in alternating rounds; the bars
are promises for an idle machine. Without a NAME it measures all of them:
${Object.keys(measurements).join(', ')}.

  --documents N   size of the corpus of search, 10,000 by default (50,000 takes a quarter of an hour), of narrowed,
                  2,000 by default (its figures are meant for 50,000; 10,000 take five minutes), of export and
                  summaries, 2,000 by default (their figures are meant for 10,000), of growth, 20,000 by default (its
                  figures are meant for 100,000), of what trash deletes and restores, 10,000 by default, of the files
                  of sync, 2,000 by default, and of the base of agents, 1,000 by default
  --files N       how many Markdown files derived extracts candidates of, 200 by default; its figure is meant for 1,000
  --writes N      how often follow updates its document, 10,000 by default, and the longest history behind which history
                  lets the service rest, 1,000,000 by default
  --seconds N     how long each level of mix takes, 15 by default, each rest of history and the attack of hostile, 60 by
                  default, and --growth, 1,200 by default; a minute in which sweeps run, every fifth, is busier than the others
  --against NAME  a commit that writes measures beside this tree, in alternating rounds
  --rounds N      how many rounds writes measures of each side, 5 by default
  --growth        makes hostile look for readers of user text whose work grows faster than the text; all of them would
                  take hours, so it measures a random sample and says which
  --only NAMES    the parts of collab to measure: latency, flush, pure (a flush without network and
                  database), eventloop, memory, connections
  --blocks N,N    how many blocks the documents of collab and editor have
  --seed N        makes --growth take the sample of that seed again
  --misses        prints the queries of relevance for which the wanted documents do not come first
  --help          prints this

Exit codes: 0 measured, 1 it failed, 2 the command line makes no sense.`

const flags = {
  documents: { type: 'string' },
  files: { type: 'string', default: '200' },
  writes: { type: 'string' },
  seconds: { type: 'string' },
  growth: { type: 'boolean' },
  against: { type: 'string' },
  rounds: { type: 'string' },
  seed: { type: 'string' },
  only: { type: 'string' },
  blocks: { type: 'string' },
  misses: { type: 'boolean' },
} as const

const words = { least: 0, most: Object.keys(measurements).length }

await runCommandLine({ usage, options: flags, words }, async ({ values, words: named }) => {
  const unknown = named.filter((name) => !Object.hasOwn(measurements, name))
  if (unknown.length > 0) throw new UsageError(`There is no ${unknown.join(', ')}`)
  const options = {
    ...(values.documents && { documents: Number(values.documents) }),
    ...(values.growth && { growth: true }),
    ...(values.seed && { seed: Number(values.seed) }),
    files: Number(values.files),
    ...(values.writes && { writes: Number(values.writes) }),
    ...(values.seconds && { seconds: Number(values.seconds) }),
    ...(values.against && { against: values.against }),
    ...(values.only && { only: values.only }),
    ...(values.blocks && { blocks: values.blocks }),
    ...(values.rounds && { rounds: Number(values.rounds) }),
    ...(values.misses && { misses: true }),
  }
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(measurements)) {
    if (named.length > 0 && !named.includes(name)) continue
    const ends: (() => unknown)[] = []
    try {
      const t = { teardown: (end: () => unknown) => void ends.unshift(end) }
      figures.push(...(await measure(await startSite(t), { ...options, t })))
    } finally {
      for (const end of ends) await end()
    }
  }
  printTable(figures)
})
