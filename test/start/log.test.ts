import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sql } from 'slonik'
import { loggerTo } from '../../shared/process/log.ts'
import { root } from '../support/processes.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

t.test('a failed statement is logged without what was written or read', async (t) => {
  const { database } = await sharedService()
  const lines: string[] = []
  const log = loggerTo({ write: (line) => void lines.push(line) }, { service: 'test', level: 'info' })
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
  const log = loggerTo({ write: (line) => void lines.push(line) }, { service: 'test', level: 'info' })
  log.info({ token: 'hush', headers: { authorization: 'hush' }, request: { body: { password: 'hush' } } }, 'said')
  t.match(
    lines,
    ['said'].map((said) => new RegExp(said)),
  )
  t.notMatch(lines.join(''), 'hush')
})

t.test('a person reads one plain line for each event, a program one of JSON', async (t) => {
  const logged = async (format: string) => {
    const config = JSON.stringify({ LOG_LEVEL: 'info', LOG_FORMAT: format })
    const program = `const { createLogger } = await import('./shared/process/log.ts')
      createLogger({ service: 'api', config: ${config} }).info({ route: '/me', token: 'hush' }, 'request')`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: root })
    return stdout
  }
  t.match(await logged('text'), /^\[[0-9:.]+\] INFO: api: request \{"route":"\/me"\}\n$/)
  for (const format of ['json', 'auto']) {
    t.match(
      JSON.parse(await logged(format)),
      { service: 'api', msg: 'request', route: '/me', token: undefined },
      format,
    )
  }
})
