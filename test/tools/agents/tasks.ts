import type { Client } from '../../support/client.ts'
import { until } from '../../support/site.ts'
import type { Agent } from './agent.ts'
import type { Base } from './base.ts'

/** What a task has: the agent, the base, and a person who works with the same documents over the API. */
export type Stage = { agent: Agent; person: Client; base: Base }

/**
 * A realistic task of an agent. The script chooses each call from the answers before, as a model would. It throws when
 * the goal is not reached. `most` are the calls and tokens that the task may take.
 */
export type Task = { name: string; most: { calls: number; tokens: number }; run: (stage: Stage) => Promise<void> }

/** The ten tasks, in the order in which they are done: each finds the base as the tasks before have left it. */
export const tasks: readonly Task[] = [
  {
    name: 'find where the docs say it, fix the sentence, see the difference',
    most: { calls: 4, tokens: 8000 },
    async run({ agent }) {
      const { hits } = await agent.call('search', { q: 'gateway port 8080' })
      const { document_id, block_id, hash } = hits.find(({ text }: Hit) => text.includes('8080'))
      const fix = { op: 'replace', block_id, find: 'port 8080', replace: 'port 9090', if_match: hash }
      const { changed_blocks } = await agent.call('edit', { document_id, edits: [fix] })
      expect(JSON.stringify(changed_blocks).includes('9090'), 'the difference is shown')
    },
  },
  {
    name: 'meet the edit of a person, and repeat as the error says',
    most: { calls: 4, tokens: 8000 },
    async run({ agent, person }) {
      const { hits } = await agent.call('search', { q: 'Harbour backup "each night at two"' })
      const { document_id, block_id, hash } = hits[0]
      await textEdit(person, document_id, { op: 'replace', find: 'thirty days', replace: 'sixty days' })
      const fix = { op: 'replace', block_id, find: 'at two', replace: 'at three' }
      const conflict = { document_id, edits: [{ ...fix, if_match: hash }] }
      const { code, details, next_call } = await agent.refused('edit', conflict)
      expect(code === 'version_conflict', code)
      const { text } = await agent.call(next_call.tool, next_call.arguments)
      expect(text.includes('sixty days'), 'the agent reads what the person wrote')
      await agent.call('edit', { document_id, edits: [{ ...fix, if_match: details.current_hash }] })
      const stored = await textOf(person, document_id)
      expect(stored.includes('at three') && stored.includes('sixty days'), 'both changes are there')
    },
  },
  {
    name: 'summarise a folder in words of its own',
    most: { calls: 3, tokens: 8000 },
    async run({ agent, base: { handbook: folder_id } }) {
      const {
        text,
        current_source_version: source_version,
        summary_version,
      } = await agent.call('summarise', { folder_id })
      expect(text.length > 0, 'there is something to begin with')
      const mine = { text: 'How Harbour is run: gateway, keys, backups.', source_version, summary_version }
      const { freshness } = await agent.call('summarise', { folder_id, ...mine })
      expect(freshness === 'current', freshness)
    },
  },
  {
    name: 'find what links to a document, and turn the links to another',
    most: { calls: 7, tokens: 12_000 },
    async run({ agent, person, base: { documents } }) {
      const [old, other] = [documents.archive, documents.backups]
      await until(
        async () => (await person.get(`/documents/${old}/relations?direction=incoming`)).body.data.length === 2,
      )
      const { relations } = await agent.call('relations', { document_id: old, direction: 'incoming' })
      for (const { from } of relations) {
        const [, document_id, block_id] = /^svc:\/\/doc\/(.+)#block=(.+)$/.exec(from) ?? []
        const part = { document_id, around: block_id, context_before: 0, context_after: 0, annotate: 'hashes' }
        const { text } = await agent.call('read', part)
        const markdown = text.replace(/^(?:<!--.*-->\s*)+/, '').replace(old, other)
        await agent.call('edit', { document_id, edits: [{ op: 'replace_block', block_id, markdown }] })
      }
      await until(
        async () => (await person.get(`/documents/${old}/relations?direction=incoming`)).body.data.length === 0,
      )
    },
  },
  {
    name: 'move a document into a new folder, delete it, restore it',
    most: { calls: 5, tokens: 4000 },
    async run({ agent, person, base: { documents, handbook } }) {
      const id = documents.release
      const { folder } = await agent.call('organise', {
        action: 'create_folder',
        name: 'Releases',
        to_folder_id: handbook,
      })
      await agent.call('organise', { action: 'move', document_ids: [id], to_folder_id: folder.id })
      const { trash } = await agent.call('delete', { document_ids: [id] })
      await agent.call('restore', { trash_id: trash[0].id })
      expect((await person.get(`/documents/${id}`)).body.data.folder_id === folder.id, 'it is back in its place')
    },
  },
  {
    name: 'have a document translated, and apply the translation',
    most: { calls: 5, tokens: 6000 },
    async run({ agent, person, base: { documents } }) {
      const wanted = { document_id: documents.shifts, source_locale: 'en', locale: 'de' }
      const { job } = await agent.call('translate', { action: 'request', ...wanted })
      const { done, status } = await agent.call('job', { job_id: job.id, wait_seconds: 50 })
      expect(done && status === 'succeeded', status)
      const { applied } = await agent.call('translate', { action: 'apply', job_id: job.id })
      expect((await textOf(person, applied.document_id)).includes('de The dockhand'), 'the translation is stored')
    },
  },
  {
    name: 'find a bad edit in the history, and roll it back',
    most: { calls: 4, tokens: 8000 },
    async run({ agent, person, base: { documents } }) {
      const document_id = documents.gateway
      await textEdit(person, document_id, { op: 'replace', find: '200 requests', replace: '2 requests' })
      const { changed_blocks, version } = await agent.call('history', { document_id, action: 'difference' })
      expect(changed_blocks[0].text.includes('[-200-]{+2+}'), 'the last edit is the bad one')
      const { versions } = await agent.call('history', { document_id })
      const back = { action: 'rollback', seq: versions[0].seq, base_version: version }
      await agent.call('history', { document_id, ...back })
      expect((await textOf(person, document_id)).includes('200 requests'), 'the old text is back')
    },
  },
  {
    name: 'create a page from Markdown in the right folder',
    most: { calls: 4, tokens: 8000 },
    async run({ agent, person, base: { knowledgeBase, handbook } }) {
      const { hits } = await agent.call('search', { q: 'Harbour gateway', knowledge_base_id: knowledgeBase, limit: 1 })
      const { items } = await agent.call('browse', { knowledge_base_id: knowledgeBase, depth: 1 })
      const { id: folder_id } = items.find(({ name }: { name: string }) => hits[0].path.includes(name))
      const content = '## Before you begin\n\nHarbour needs a berth and a crane.'
      const { document_id } = await agent.call('write', { title: 'Installing', folder_id, content })
      expect((await person.get(`/documents/${document_id}`)).body.data.folder_id === handbook, 'it is in the folder')
    },
  },
  {
    name: 'rename a term in all documents that mention it',
    most: { calls: 6, tokens: 12_000 },
    async run({ agent, person }) {
      const { hits } = await agent.call('search', { q: 'dockhand', limit: 20 })
      const ids = [...new Set(hits.map(({ document_id }: Hit) => document_id))]
      for (const document_id of ids) {
        const rename = { op: 'replace', find: 'dockhand', replace: 'docker', occurrence: 'all' }
        await agent.call('edit', { document_id, edits: [rename] })
      }
      const left = await agent.call('search', { q: 'dockhand' })
      expect(left.hits.length === 0, 'no document says it any more')
      expect(ids.length === 3, `${ids.length} documents`)
      expect((await textOf(person, String(ids[0]))).includes('docker'), 'the new term is there')
    },
  },
  {
    name: 'follow what changes in a document since a cursor',
    most: { calls: 3, tokens: 4000 },
    async run({ agent, person, base: { documents } }) {
      const document_id = documents.keys
      const { cursor } = await agent.call('changes', { document_id })
      await textEdit(person, document_id, { op: 'append', markdown: 'Lost keys cost ten crowns.' })
      const { changes, sync_required } = await agent.call('changes', { document_id, cursor })
      expect(!sync_required && JSON.stringify(changes).includes('ten crowns'), 'the agent hears of the new block')
    },
  },
]

type Hit = { text: string; document_id: string }

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`the goal was not reached: ${what}`)
}

async function textEdit(person: Client, id: string, edit: object): Promise<void> {
  const { status, text } = await person.post(`/documents/${id}/content/edit`, { edits: [edit] })
  if (status !== 200) throw new Error(`${status}: ${text}`)
}

async function textOf(person: Client, id: string): Promise<string> {
  return (await person.get(`/documents/${id}/content?format=markdown`)).body.data.content
}
