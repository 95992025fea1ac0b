import type { Ahead } from '../../../shared/computations/ahead.ts'
import type { Transaction } from '../../../shared/database/database.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import type { TargetGuard } from '../../../shared/localization/units/review.ts'
import type { Guard } from '../../http/preconditions.ts'
import { bodyGuard } from '../body/body-guard.ts'

/**
 * The guard of a write to a translation, whose If-Match must name the current version of the translation's body.
 * Refuses with 428 when If-Match is missing, and with 409 when it names another version.
 */
export function targetGuard(call: { tx: Transaction; ahead: Ahead; guard: Guard }): TargetGuard {
  return {
    require() {
      if (call.guard.tags === null) throw new Refusal('precondition_required', { details: { missing: ['If-Match'] } })
    },
    check: bodyGuard(call),
  }
}
