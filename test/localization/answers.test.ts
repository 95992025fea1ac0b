import { computationLoad } from '../../shared/computations/compute.ts'
import { translateTexts } from '../../shared/localization/jobs/translate.ts'
import { t } from '../support/tap.ts'

const text = { unit_id: 'u0', content: [{ type: 'text', text: 'a' }] }
const padding = 'b'.repeat(400_000)

t.test('a long answer of a model is read in a thread, where it can be ended', async (t) => {
  const before = computationLoad().ends.done
  const translations = [
    { id: 'u0', text: 'c' },
    { id: 'u1', text: padding },
  ]
  t.match(await answered(JSON.stringify({ translations })), [{ unit_id: 'u0', text: 'c' }])
  t.equal(computationLoad().ends.done, before + 1)
})

t.test('a long answer that is no translation fails its texts and nothing else', async (t) => {
  for (const answer of [padding, JSON.stringify([padding]), `{"translations":[${padding}`]) {
    t.match(await answered(answer), [{ unit_id: 'u0', failure: 'model_bad_output' }])
  }
})

async function answered(answer: string) {
  const request = { model: 'm', source_locale: 'en', target_locale: 'de', ask: async () => answer }
  return (await translateTexts([text], request)).translations
}
