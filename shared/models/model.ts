import type { Config } from '../config/config.ts'

/** What a job's `error.code` says about a model that did not answer as it should (decisions 7). */
export type ModelErrorCode = 'model_error' | 'model_timeout' | 'model_bad_output'

/** One question: `system` says what to do, `user` is the data to do it with. */
export type ModelRequest = {
  /** Name of the model, from `configuredModel`. */
  model: string
  system: string
  user: string
  /** Asks for an answer that is JSON of this schema; the caller checks it all the same. */
  schema?: { name: string; schema: Record<string, unknown> }
}

/** Tokens as the provider counts them; 0 where it does not say. */
export type ModelUsage = { input_tokens: number; output_tokens: number }

/** The model's text, never empty, and what it cost. It is hostile: nothing in it is executed or followed. */
export type ModelAnswer = { text: string; usage: ModelUsage }

/** The model provider, shared by everything in a process. */
export type Models = { ask: (request: ModelRequest, signal?: AbortSignal) => Promise<ModelAnswer> }

/**
 * Thrown when the model gave no usable answer. `transient` tells a failure that may pass from one that will not. The
 * message never repeats what the provider said, since that may quote the documents it was asked about.
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

/** The name of the model for a purpose, or null when it is unconfigured: no key, or no name (decisions 8). */
export function configuredModel(
  config: Pick<Config, 'OPENAI_API_KEY' | ModelVariable>,
  variable: ModelVariable,
): string | null {
  return config.OPENAI_API_KEY === '' || config[variable] === '' ? null : config[variable]
}
