import type { Ahead } from '../../../shared/computations/ahead.ts'
import type { Transaction } from '../../../shared/database/database.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import type { TargetGuard } from '../../../shared/localization/units/review.ts'
import type { Guard } from '../../http/preconditions.ts'
import { bodyGuard } from '../body/body-guard.ts'

/** Makes the precondition of a call on the body of a translation from its If-Match header, which is required. */
export function targetGuard(call: { tx: Transaction; ahead: Ahead; guard: Guard | null }): TargetGuard {
  return {
    require() {
      if (call.guard === null) throw new Refusal('precondition_required', { details: { missing: ['If-Match'] } })
    },
    check: bodyGuard(call, { required: true }),
  }
}
