import type { Caller } from '../shared/auth/caller.ts'
import type { DocumentFollower } from '../shared/body/follower.ts'
import type { DeletionFollower } from '../shared/documents/deletion.ts'
import { actorOf } from '../shared/localization/audit.ts'
import { localizationDeletions, localizationFollower } from '../shared/localization/follower.ts'
import type { Client } from '../shared/requests/client.ts'

/** What follows documents inside the transactions of the API's body writes. */
export const followers: readonly DocumentFollower[] = [localizationFollower]

/** What follows the deletions of one call inside its transaction. */
export function deletionFollowers(call: { caller: Caller; client: Client }): readonly DeletionFollower[] {
  return [localizationDeletions(actorOf(call.caller, call.client))]
}
