import { Counter, Histogram, type Registry } from 'prom-client'
import type { Config } from '../config/config.ts'
import { ModelError, type ModelRequest, type Models } from './model.ts'

/** The prices of characters, in US dollars per million. */
type Prices = Pick<Config, 'MODEL_PRICE_INPUT_PER_MCHAR' | 'MODEL_PRICE_OUTPUT_PER_MCHAR'>

/**
 * Wraps the models so that each call is measured. The registry gets the duration of each call, how the call ended, its
 * characters and its estimated cost.
 */
export function measureModels(models: Models, { registry, prices }: { registry: Registry; prices: Prices }): Models {
  const count = countersOn(registry, prices)
  const duration = new Histogram({
    name: 'svc_model_call_duration_seconds',
    help: 'Time of a call of a model with its retries, by how it ended',
    labelNames: ['model', 'outcome'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers: [registry],
  })
  return {
    async ask(request, signal) {
      const { model } = request
      const end = duration.startTimer({ model })
      try {
        const answer = await models.ask(request, signal)
        end({ outcome: 'done' })
        count(request, answer.text)
        return answer
      } catch (error) {
        end({ outcome: error instanceof ModelError ? error.code : 'interrupted' })
        throw error
      }
    },
  }
}

function countersOn(registry: Registry, prices: Prices): (request: ModelRequest, answer: string) => void {
  const characters = new Counter({
    name: 'svc_model_characters_total',
    help: 'Characters that models were sent and have answered',
    labelNames: ['model', 'direction'],
    registers: [registry],
  })
  const cost = new Counter({
    name: 'svc_model_cost_dollars_total',
    help: 'Estimated cost of the answers of models in US dollars',
    labelNames: ['model'],
    registers: [registry],
  })
  const { MODEL_PRICE_INPUT_PER_MCHAR: inputPrice, MODEL_PRICE_OUTPUT_PER_MCHAR: outputPrice } = prices
  return ({ model, system, user }, answer) => {
    const sent = system.length + user.length
    characters.inc({ model, direction: 'input' }, sent)
    characters.inc({ model, direction: 'output' }, answer.length)
    if (inputPrice === null || outputPrice === null) return
    cost.inc({ model }, (sent * inputPrice + answer.length * outputPrice) / 1_000_000)
  }
}
