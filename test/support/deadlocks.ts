import Type from 'typebox'
import { type Database, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'

const Deadlocks = row(Type.Object({ deadlocks: Type.Number() }))

/**
 * The number of deadlocks in a database so far. PostgreSQL counts what a connection has seen up to ten seconds later.
 * So every connection of the pool is told to report at once, by as many statements that run at a time.
 */
export async function deadlocks(database: Database): Promise<number> {
  const { idleConnections } = database.state()
  const report = () => database.query(sql.unsafe`SELECT pg_stat_force_next_flush(), pg_sleep(0.1)`)
  await Promise.all(Array.from({ length: idleConnections }, report))
  return database.oneFirst(sql.type(Deadlocks)`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
}
