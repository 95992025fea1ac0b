import pg from 'pg'
import { statementName } from '../../../shared/database/database.ts'

/** A notification that waits to be sent. */
export type Notification = { channel: string; payload: string }

/**
 * Lets a session listen on the channels. Its commits do not wait for the disk: what the session sends is worth nothing
 * after a crash of the database.
 */
export async function listenOn(session: Pick<pg.Client, 'query'>, channels: readonly string[]): Promise<void> {
  const listens = channels.map((channel) => `LISTEN ${pg.escapeIdentifier(channel)}`)
  await session.query(['SET synchronous_commit = off', ...listens].join('; '))
}

const notifyText = 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)'

/** Sends all notifications in one statement. They arrive in this order. */
export async function notify(session: Pick<pg.Client, 'query'>, notifications: readonly Notification[]): Promise<void> {
  const channels = notifications.map(({ channel }) => channel)
  const payloads = notifications.map(({ payload }) => payload)
  await session.query({ name: statementName(notifyText), text: notifyText, values: [channels, payloads] })
}
