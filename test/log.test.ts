import { sql } from 'slonik'
import t from 'tap'
import { createLogger } from '../shared/log.ts'
import { startTestService } from './support/service.ts'

t.test('a failed statement is logged without what was written or read', async (t) => {
  const { database } = await startTestService(t)
  const lines: string[] = []
  const log = createLogger({ service: 'test', level: 'info' }, { write: (line) => void lines.push(line) })
  const statements = [
    () => database.one(sql.unsafe`SELECT 1 WHERE ${'private words'}::text = ''`),
    () => database.any(sql.unsafe`SELECT ${'private words'}::text AS title, 1 / 0`),
    () =>
      database.query(sql.unsafe`
      INSERT INTO users (id, email, name) VALUES ('usr_1', ${'private words'}, ''), ('usr_2', ${'private words'}, '')`),
  ]
  for (const statement of statements) {
    await t.rejects(statement())
    await statement().catch((err) => log.error({ err }, 'request failed'))
  }
  t.equal(lines.length, statements.length)
  for (const line of lines) {
    t.match(line, 'request failed')
    t.notMatch(line, 'private words')
  }
})

t.test('no secret comes into a log, however deep it stands', async (t) => {
  const lines: string[] = []
  const log = createLogger({ service: 'test', level: 'info' }, { write: (line) => void lines.push(line) })
  log.info({ token: 'hush', headers: { authorization: 'hush' }, request: { body: { password: 'hush' } } }, 'said')
  t.match(
    lines,
    ['said'].map((said) => new RegExp(said)),
  )
  t.notMatch(lines.join(''), 'hush')
})
