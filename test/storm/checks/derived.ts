import { manifestOf, operationOf } from '../../../shared/body/manifest.ts'
import { type KeptBlock, replay } from '../../changes/follower.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/site.ts'
import { currentWithin, type LoggedBody } from '../body-log.ts'
import type { StormSite } from '../storm-site.ts'
import { type ChangesReader, type Claim, manifestDigest } from '../watch.ts'
import type { Ending } from './ending.ts'
import { sequenceFault } from './history.ts'

/** Checks what was claimed while the documents changed: each claim names a body that was current at that time. */
export function checkClaims(claims: readonly Claim[], { document, bodies }: Ending): string[] {
  const digests = new Map<LoggedBody, string>()
  const digestOf = (body: LoggedBody) => {
    const known = digests.get(body) ?? manifestDigest(manifestOf(body.lines))
    digests.set(body, known)
    return known
  }
  return claims
    .filter((claim) => claim.document === document.id)
    .flatMap((claim) => {
      const current = currentWithin(bodies, claim)
      const named = current.filter(({ version }) => version === claim.version)
      const time = new Date(claim.from).toISOString()
      const versions = current.map(({ version }) => version).join(', ')
      if (named.length === 0)
        return [`${claim.what} at ${time} claimed to be of ${claim.version}, current was ${versions}`]
      const { manifest, text } = claim
      if (manifest !== undefined && !named.some((body) => digestOf(body) === manifest))
        return [`${claim.what} at ${time} led to another manifest than that of ${claim.version}`]
      const isThere = ({ lines }: LoggedBody) =>
        text === undefined || lines.some((line) => line.includes(text.block) && line.includes(text.text))
      return named.some(isThere) ? [] : [`${claim.what} at ${time} found ${text?.text} where ${claim.version} has none`]
    })
}

/** Checks that each recorded step leads from the manifest of the body before to the manifest of its body. */
export function checkSteps({ bodies, steps }: Ending): string[] {
  return bodies.slice(1).flatMap((body, index) => {
    const before = bodies[index] as LoggedBody
    const step = steps.get(body.bodySeq)
    if (step === undefined) return [`the body ${body.bodySeq} has no step`]
    const changes = step.map((change) => ({
      ...change,
      op: operationOf(change.old_hash, change.new_hash),
      hash: change.new_hash,
      moved: change.displaced,
    }))
    const what = `the step to the body ${body.bodySeq}, stored by ${body.byApi ? 'the API' : 'a collab process'},`
    try {
      const reached = replay(manifestOf(before.lines), changes)
      const isSame = manifestDigest(reached) === manifestDigest(manifestOf(body.lines))
      return isSame ? [] : [`${what} leads to another manifest`]
    } catch (error) {
      return [`${what} does not fit: ${error}`]
    }
  })
}

/** Checks that the stream of changes, replayed from the first body on, leads to the final manifest. */
export async function checkChanges(
  client: Client,
  reader: ChangesReader,
  { final, bodies }: Ending,
): Promise<string[]> {
  const faults: string[] = []
  await until(async () => {
    const { isCurrent, fault } = await reader.step(client)
    if (fault !== null) faults.push(fault)
    return isCurrent || fault !== null
  })
  const [replayed, last] = [reader.manifest, manifestOf(final.lines)]
  const isSame = manifestDigest(replayed) === manifestDigest(last)
  const shown = ({ block_id, type, hash, text_excerpt }: KeptBlock) => [block_id, type, hash, text_excerpt].join(' ')
  const differing = [...new Set(replayed.map(shown)).symmetricDifference(new Set(last.map(shown)))]
  const versions = bodies.map(({ version }) => version)
  return [
    ...faults,
    ...(isSame ? [] : [`the replayed changes lead to another manifest than that of the final body: ${differing}`]),
    ...sequenceFault('batches of changes', reader.versions, versions.slice(1)),
  ]
}

/**
 * Compares what workers have derived from a document step by step with what they derive from a new document with the
 * same body: version, outline, relations, and where a search finds words.
 */
export async function checkRebuild({ site }: StormSite, { document, final, ledger }: Ending): Promise<string[]> {
  const { client } = site
  const content = {
    format: 'tiptap-json',
    document: { type: 'doc', content: final.lines.map((line) => JSON.parse(line)) },
  }
  const input = { title: document.name, knowledge_base_id: site.knowledgeBase, content }
  const made = await client.post('/documents', input)
  if (made.status !== 201) return [`a new document with the final body is refused: ${made.text}`]
  const copy = made.body.data
  await until(async () => (await site.ask('SELECT FROM stale_projections')).length === 0)
  const words = [...new Set(final.lines.join('\n').match(/storm[0-9]+x/g))].slice(0, 20)
  const gone = ledger.writes.flatMap(({ payload }) => payload.match(/storm[0-9]+x/g) ?? []).slice(-10)
  const faults: string[] =
    copy.version === final.version ? [] : [`its version is ${copy.version}, not ${final.version}`]
  for (const word of new Set([...words, ...gone])) {
    const found = await hitsOf(client, word)
    const [here, there] = [found.get(document.id) ?? '', found.get(copy.id) ?? '']
    if (here !== there) faults.push(`a search for ${word} finds [${here}], and [${there}] in a new document`)
  }
  for (const view of ['outline', 'relations?direction=outgoing&limit=100', 'blocks?limit=100']) {
    const [here, there] = await Promise.all([document.id, copy.id].map((id) => viewOf(client, { id, view })))
    if (here !== there) faults.push(`${view} answers\n      ${here}\n    and of a new document\n      ${there}`)
  }
  await client.delete(`/documents/${copy.id}`, undefined, { 'if-match': '*' })
  return faults
}

async function hitsOf(client: Client, word: string): Promise<Map<string, string>> {
  const { body } = await client.get(`/search/v2?q=${word}&limit=100`)
  if (body.data.projection.complete !== true) return new Map([['', 'incomplete']])
  type Hit = { document_id: string; block_id: string }
  const byDocument = Map.groupBy(body.data.results as Hit[], ({ document_id }) => document_id)
  return new Map(
    [...byDocument].map(([id, hits]) => [
      id,
      hits
        .map(({ block_id }) => block_id)
        .sort()
        .join(' '),
    ]),
  )
}

// A view without the members in which two equal documents differ.
async function viewOf(client: Client, { id, view }: { id: string; view: string }): Promise<string> {
  const { body } = await client.get(`/documents/${id}/${view}`)
  const own = new Set(['id', 'created_at', 'document', 'updated_at', 'uri', 'document_id'])
  const rows = JSON.stringify(body.data, (name, value) =>
    own.has(name) && !String(value).startsWith('block_') ? undefined : value,
  )
  if (!view.startsWith('relations')) return rows
  return JSON.stringify((JSON.parse(rows) as unknown[]).map((row) => JSON.stringify(row)).sort())
}
