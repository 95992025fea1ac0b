import { Refusal } from '../../shared/errors/errors.ts'

/**
 * The refusal of a form, with a sentence for the person who sent the form. The code is `invalid_request` for a form
 * that cannot be read. The code is `version_conflict` for a form that was filled in before somebody else changed the
 * same thing.
 */
export class FormRefusal extends Refusal {
  constructor(code: 'invalid_request' | 'version_conflict', message: string) {
    super(code, { message })
    this.name = 'FormRefusal'
  }
}

/** Returns the action that a button of a form names. Refuses with 400 when the form names none of the actions. */
export function actionOf<Action>(actions: ReadonlyMap<string, Action>, name: string): Action {
  const action = actions.get(name)
  if (action === undefined) throw new FormRefusal('invalid_request', unknownAction)
  return action
}

const unknownAction = 'The form did not say what to do, so nothing was changed. Press one of its buttons again.'
