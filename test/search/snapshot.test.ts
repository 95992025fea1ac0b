import { type Queryable, sql } from '../../shared/database/database.ts'
import { type SearchDatabase, searchTopK } from '../../shared/search/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)
const q = 'heron crane stork'

t.test('who asks for three words while they are being written gets the block that has all of them', async (t) => {
  const { ada, scope } = await startWithHalf()
  const whole = async () => {
    await write(ada, 'heron crane stork')
    await untilFresh(ada)
  }
  const { hits, projection } = await searchTopK(interrupted(1, whole), { q, scope, limit: 10, relax: true })
  t.match(projection, { complete: true, document_count: 2 })
  t.strictSame(
    hits.map(({ hit, explanation }) => [hit.body, explanation.relaxed]),
    [['heron crane stork', false]],
  )
})

t.test('blocks with half of the words come with the proof that none has all of them', async (t) => {
  const { ada, scope } = await startWithHalf()
  const whole = async () => {
    await write(ada, 'heron crane stork')
    await untilFresh(ada)
  }
  const { hits, projection } = await searchTopK(interrupted(2, whole), { q, scope, limit: 10, relax: true })
  t.match(projection, { complete: true, document_count: 1 }, 'as of before the other was written')
  t.strictSame(
    hits.map(({ hit, explanation }) => [hit.body, explanation.relaxed]),
    [['heron crane', true]],
  )
})

/** A workspace in which one block has two of the words. */
async function startWithHalf() {
  const ada = await service.signUp()
  const { id } = await write(ada, 'heron crane')
  await untilFresh(ada)
  const workspaceId: unknown = await service.database.oneFirst(sql.unsafe`
    SELECT workspace_id FROM documents WHERE id = ${id}`)
  return { ada, scope: { workspaceIds: [String(workspaceId)], locale: 'default' as const } }
}

/** The database, in which something happens after so many statements of a search. */
function interrupted(after: number, happens: () => Promise<void>): SearchDatabase {
  let statements = 0
  let happened = false
  const watched = <T extends Queryable>(db: T): T => {
    const one = async (statement: Parameters<Queryable['one']>[0]) => {
      const answer = await db.one(statement)
      if (statement.sql.includes('search_coverage')) statements += 1
      if (statements === after && !happened) {
        happened = true
        await happens()
      }
      return answer
    }
    const get = (target: T, name: string | symbol) => {
      if (name === 'one') return one
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    }
    return new Proxy(db, { get })
  }
  const { database } = service
  const transaction: SearchDatabase['transaction'] = (work, retries) =>
    database.transaction((tx) => work(watched(tx)), retries)
  return Object.assign(Object.create(watched(database)), { transaction })
}
