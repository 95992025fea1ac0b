import type pg from 'pg'
import { keepSession } from '../../../shared/database/kept-session.ts'
import { openSession } from '../../../shared/database/session.ts'
import { listenOn, type Notification, notify } from './queries.ts'

/** A session that hears the notifications for this process and sends notifications to others. */
export type PeerSession = {
  /**
   * Sends notifications. Without a session they are dropped. When the statement fails, the session is closed and the
   * function rejects.
   */
  notify: (notifications: readonly Notification[]) => Promise<void>
  close: () => Promise<void>
}

type Options = {
  url: string
  channels: readonly string[]
  /** Called each time when the session listens. Notifications before that went unheard. */
  onOpen: () => void
  onPayload: (payload: string) => void
  onError: (error: Error) => void
}

/** Opens the session of the relay and keeps it open: a session that is lost is replaced. */
export function openPeerSession({ url, channels, onOpen, onPayload, onError }: Options): PeerSession {
  let current: pg.Client | undefined
  const { close } = keepSession({
    open() {
      const session = openSession({ url, name: 'svc-collab-peers' })
      session.on('notification', ({ payload = '' }) => onPayload(payload))
      return session
    },
    prepare: (session) => listenOn(session, channels),
    onChange(session) {
      current = session
      if (session !== undefined) onOpen()
    },
    onError,
  })
  return {
    close,
    async notify(notifications) {
      const session = current
      if (session === undefined) return
      try {
        await notify(session, notifications)
      } catch (error) {
        void session.end().catch(() => {})
        throw error
      }
    },
  }
}
