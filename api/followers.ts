import type { DocumentFollower } from '../shared/documents/followers.ts'
import { localizationFollower } from '../shared/localization/follower.ts'

/** What follows documents inside the transactions of the API's writes. */
export const followers: readonly DocumentFollower[] = [localizationFollower]
