import { type Database, inTransaction, type Transaction, Undone } from '../../shared/database/database.ts'

/**
 * Runs `work`, which may ask for a transaction by `begin`, any number of times. The transaction begins when it is asked
 * for the first time, so nothing that `work` waits for before takes a connection. It commits when `work` returns true,
 * and is undone when `work` returns false or throws.
 */
export async function inOneTransaction(
  database: Database,
  work: (begin: () => Promise<Transaction>) => Promise<boolean>,
): Promise<void> {
  const worked = Promise.withResolvers<boolean>()
  let transaction: { begun: Promise<Transaction>; over: Promise<void> } | undefined
  const begin = () => {
    transaction ??= beginUntil(database, worked.promise)
    return transaction.begun
  }
  try {
    worked.resolve(await work(begin))
    await transaction?.over
  } catch (error) {
    worked.resolve(false)
    await transaction?.over.catch(() => {})
    throw error
  }
}

function beginUntil(database: Database, worked: Promise<boolean>) {
  const begun = Promise.withResolvers<Transaction>()
  const over = inTransaction(
    database,
    async (tx) => {
      begun.resolve(tx)
      if (!(await worked)) throw new Undone()
    },
    0,
  ).catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error
  })
  over.catch(begun.reject)
  return { begun: begun.promise, over }
}
