import type { Transaction } from '../../../shared/database/database.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import type { TargetGuard } from '../../../shared/localization/units/review.ts'
import type { Guard } from '../../http/preconditions.ts'
import { bodyGuard } from '../body/body-guard.ts'

/** Makes the precondition of a call on the body of a translation from its If-Match header, which is required. */
export function targetGuard({ tx, guard }: { tx: Transaction; guard: Guard | null }): TargetGuard {
  return {
    require() {
      if (guard === null) throw new Refusal('precondition_required', { details: { missing: ['If-Match'] } })
    },
    check: bodyGuard({ db: tx, guard, required: true }),
  }
}
