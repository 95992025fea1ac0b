import type { IncomingMessage } from 'node:http'
import { collaborationPath } from '../../shared/config/collaboration-url.ts'

/** Whether a request asks for a WebSocket of live editing. All other requests get their ordinary answer. */
export function isForLiveEditing({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  return isCollaborationPath(url) && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Whether the path of a request's URL is the path of live editing. */
export function isCollaborationPath(url: string | undefined): boolean {
  return url?.split('?')[0] === collaborationPath
}
