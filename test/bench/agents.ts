import { markdownFiles } from '../support/markdown-files.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startApi, startWorker } from '../support/processes.ts'
import type { Site, Teardown } from '../support/site.ts'
import { marked } from '../support/translation-stub.ts'
import { type Agent, type Spent, startAgent } from '../tools/agents/agent.ts'
import { makeBase } from '../tools/agents/base.ts'
import { tasks } from '../tools/agents/tasks.ts'
import type { Figure } from './harness.ts'

// The tokens of all tools in `tools/list`, which a client puts into the context of its model once.
const mostToolTokens = 6000

/**
 * Lets an agent do realistic tasks through MCP alone, on a base of real Markdown. Counts the calls, and the tokens of
 * everything that the tools answer; a token is four characters. The counts do not depend on the machine.
 */
export async function measureAgents(
  site: Site,
  { documents = 1000, t }: { documents?: number; t: Teardown },
): Promise<Figure[]> {
  const stub = await startModelStub(t)
  stub.answerWith(marked)
  const env = { ...site.env, ...stub.env }
  const api = await startApi(env)
  t.teardown(api.stop)
  const worker = await startWorker(['search', 'events', 'changes', 'relations', 'localization'], env)
  t.teardown(worker.stop)
  const base = await makeBase(site.client, documents)
  const agent = await startAgent(t, { origin: api.origin, token: site.client.bearer ?? '' })
  const figures: Figure[] = [
    { name: 'tools/list', value: `${agent.toolTokens} tokens`, ...bar(agent.toolTokens, mostToolTokens, 'tokens') },
  ]
  for (const { name, most, run } of tasks) {
    await run({ agent, person: site.client, base })
    const { calls, tokens } = agent.spent()
    figures.push({
      name: `${name}, ${documents} documents`,
      value: `${calls} calls, ${tokens} tokens`,
      bar: `${most.calls} calls, ${most.tokens} tokens`,
      met: calls <= most.calls && tokens <= most.tokens,
    })
  }
  return [...figures, await sentenceFigure({ agent, documents })]
}

// How many sentences of the real files are fixed.
const sentences = 20

/**
 * Fixes sentences of the real files as the first task does: a search for a few words of the sentence, and one for the
 * sentence itself where the words did not find it. The figure is the most that one sentence took.
 */
async function sentenceFigure({ agent, documents }: { agent: Agent; documents: number }): Promise<Figure> {
  const files = markdownFiles(documents - 20)
  const worst: Spent = { calls: 0, tokens: 0 }
  let fixed = 0
  for (let index = 0; fixed < sentences && index < files.length; index += 1) {
    const sentence = plainSentence(files[Math.floor((index * 617) % files.length)]?.text ?? '')
    if (sentence === undefined) continue
    if (!(await fixSentence(agent, sentence))) continue
    fixed += 1
    const { calls, tokens } = agent.spent()
    worst.calls = Math.max(worst.calls, calls)
    worst.tokens = Math.max(worst.tokens, tokens)
  }
  return {
    name: `find and fix one of ${fixed} sentences of real files, the most of each, ${documents} documents`,
    value: `${worst.calls} calls, ${worst.tokens} tokens`,
    bar: '4 calls, 8000 tokens',
    met: fixed === sentences && worst.calls <= 4 && worst.tokens <= 8000,
  }
}

// A line of plain words; texts of licences are left out, because many files have the same ones.
function plainSentence(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => /^[A-Z][A-Za-z ,]{50,140}\.$/.test(line))
  return lines.find((line) => !/software|warrant|liab|license|copyright/i.test(line))
}

async function fixSentence(agent: Agent, sentence: string): Promise<boolean> {
  const words =
    sentence
      .match(/[a-z]{5,}/g)
      ?.slice(0, 4)
      .join(' ') ?? sentence
  for (const q of [words, `"${sentence}"`]) {
    const { hits } = await agent.call('search', { q })
    const hit = hits.find(({ text }: { text: string }) => text.includes(sentence))
    if (hit === undefined) continue
    const replace = `${sentence.slice(0, -1)}, mostly.`
    const fix = {
      op: 'replace',
      block_id: hit.block_id,
      find: sentence,
      replace,
      if_match: hit.hash,
      occurrence: 'first',
    }
    const { changed_blocks } = await agent.call('edit', { document_id: hit.document_id, edits: [fix] })
    return changed_blocks.length > 0
  }
  agent.spent()
  return false
}

function bar(value: number, most: number, unit: string): Pick<Figure, 'bar' | 'met'> {
  return { bar: `${most} ${unit}`, met: value <= most }
}
