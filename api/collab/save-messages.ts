import type { LostText } from '../../shared/body/yjs/rescue.ts'

/** What is stored of a document. */
export type SaveState = {
  /** The version of the stored body. */
  version: string
  /** The Yjs state vector of what is stored. */
  stateVector: Uint8Array
}

/** The message to editors after a commit. `complete`: nothing that this process has received is still unstored. */
export function savedMessage({ version, stateVector, complete }: SaveState & { complete: boolean }): string {
  const state_vector = Buffer.from(stateVector).toString('base64')
  return JSON.stringify({ type: 'saved', version, complete, state_vector })
}

/** The message to editors after a commit that was refused or failed. `reason` is a code of the error catalogue. */
export function unsavedMessage(reason: string): string {
  return JSON.stringify({ type: 'unsaved', reason })
}

/** The message to the editor whose late text could not be put into its block any more. */
export function lostTextMessage({ block_id, text }: LostText): string {
  return JSON.stringify({ type: 'lost_text', block_id, text })
}
