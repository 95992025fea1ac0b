import type { Config } from '../config/config.ts'
import { Refusal } from '../errors/errors.ts'

/** The `error.code` of a job whose model gave no usable answer. */
export type ModelErrorCode = 'model_error' | 'model_timeout' | 'model_bad_output'

/** One question to a model: `system` is the instruction, `user` the data. */
export type ModelRequest = {
  /** Name of the model, from `configuredModel`. */
  model: string
  system: string
  user: string
  /** Asks for JSON of this schema. The caller checks the answer nevertheless. */
  schema?: { name: string; schema: Record<string, unknown> }
}

/** The tokens that a call used, as the provider counts them; 0 if the provider does not say. */
export type ModelUsage = { input_tokens: number; output_tokens: number }

/** The text of a model, never empty, and its usage. The text is untrusted: nothing in it is executed or followed. */
export type ModelAnswer = { text: string; usage: ModelUsage }

/** The model provider of a process. `ask` throws a ModelError when the model gives no usable answer. */
export type Models = { ask: (request: ModelRequest, signal?: AbortSignal) => Promise<ModelAnswer> }

/**
 * The model gave no usable answer. `transient` says whether a later attempt may succeed. The message never repeats the
 * provider's words, which may quote documents.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  readonly transient: boolean

  constructor(code: ModelErrorCode, options: { message: string; transient: boolean; cause?: unknown }) {
    super(options.message, { cause: options.cause })
    this.code = code
    this.transient = options.transient
  }
}

type ModelVariable = 'SUMMARY_MODEL' | 'TRANSLATION_MODEL'

/** The name of the model for a purpose; null when the provider's key or the name of the model is not configured. */
export function configuredModel(
  config: Pick<Config, 'OPENAI_API_KEY' | ModelVariable>,
  variable: ModelVariable,
): string | null {
  return config.OPENAI_API_KEY === '' || config[variable] === '' ? null : config[variable]
}

/** The refusal of work for a model that `configuredModel` does not find. It names the settings for the operator. */
export function modelUnavailable(variable: ModelVariable): Refusal {
  const message = `No model is configured. The operator of the service can set OPENAI_API_KEY and ${variable}.`
  return new Refusal('model_unavailable', { message })
}
