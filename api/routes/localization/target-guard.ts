import type { Ahead } from '../../../shared/computations/ahead.ts'
import type { Transaction } from '../../../shared/database/database.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import type { TargetGuard } from '../../../shared/localization/units/review.ts'
import type { Guard } from '../../http/preconditions.ts'
import { bodyGuard } from '../body/body-guard.ts'

/** The guard of a write that is held against the body of a translation; it is required (decisions 2.0). */
export function targetGuard(call: { tx: Transaction; ahead: Ahead; guard: Guard | null }): TargetGuard {
  return {
    require() {
      if (call.guard === null) throw new Refusal('precondition_required', { details: { missing: ['If-Match'] } })
    },
    hold: bodyGuard(call, { required: true }),
  }
}
