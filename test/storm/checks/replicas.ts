import type { BlockNode } from '../../../shared/body/document.ts'
import { untouchedText } from '../documents.ts'
import { withNested } from '../writes.ts'
import { blocksOf, type Ending, shownBlocks } from './ending.ts'

/** Compares all replicas of a document with its stored body, and the body with what may never have changed in it. */
export function checkReplicas(ending: Ending): string[] {
  const { api, final, stored, tabs } = ending
  const want = blocksOf(final)
  const replicas = [
    { who: 'the API', blocks: api.blocks },
    ...(stored === null ? [] : [{ who: 'the stored Y document', blocks: shownBlocks(stored) }]),
    ...tabs.map(({ by, doc }) => ({ who: `the replica of ${by}`, blocks: shownBlocks(doc) })),
  ]
  const different = replicas.flatMap(({ who, blocks }) => {
    const difference = firstDifference(blocks, want)
    return difference === null ? [] : [`${who} differs from the stored body ${final.bodySeq}: ${difference}`]
  })
  if (api.version !== final.version) different.push(`the API names the version ${api.version}, not ${final.version}`)
  return [...different, ...checkIds(want), ...checkUntouched(ending)]
}

function firstDifference(got: ReturnType<typeof shownBlocks>, want: readonly BlockNode[]): string | null {
  if ('fault' in got) return got.fault
  for (let index = 0; index < Math.max(got.length, want.length); index += 1) {
    const [one, other] = [JSON.stringify(got[index]), JSON.stringify(want[index])]
    if (one !== other) return `block ${index} is\n      ${one}\n    instead of\n      ${other}`
  }
  return null
}

function checkIds(blocks: readonly BlockNode[]): string[] {
  const ids = blocks.flatMap(withNested).map(({ attrs }) => attrs.id)
  const double = ids.filter((id, index) => ids.indexOf(id) !== index)
  return [...new Set(double)].map((id) => `the id ${id} occurs more than once`)
}

// The blocks that nobody may edit: their ids, contents and order, compared with the first body.
function checkUntouched({ document, bodies, final }: Ending): string[] {
  const untouched = (lines: readonly string[]) => lines.filter((line) => line.includes(untouchedText))
  const [want, got] = [untouched(bodies[0]?.lines ?? []), untouched(final.lines)]
  if (want.length !== document.untouched.size) return ['the untouched blocks are not in the first body']
  const missing = want.filter((line) => !got.includes(line)).map((line) => `an untouched block is gone: ${line}`)
  const foreign = got.filter((line) => !want.includes(line)).map((line) => `an untouched block was changed: ${line}`)
  if (missing.length + foreign.length > 0) return [...missing, ...foreign]
  return JSON.stringify(got) === JSON.stringify(want) ? [] : ['the untouched blocks have another order']
}
