import type { Static, TObject, TSchema } from 'typebox'
import { Refusal } from '../../shared/errors/errors.ts'
import { bodyReader } from '../http/input.ts'
import { withDocumentIds } from './arguments.ts'
import type { Door } from './door.ts'
import { leanSchema } from './lean-schema.ts'

/**
 * What a tool can use: the door to the routes, and the signal that aborts when nobody waits for the answer any more.
 * `refusalOf` turns what was thrown into the refusal that the caller is told, and logs a failure of the service.
 */
export type ToolUse = { door: Door; signal: AbortSignal; refusalOf: (error: unknown) => Refusal }

/**
 * An answer of a tool. `summary` is one short line of the service itself, without any text of users. `untrusted` is
 * what users wrote: titles, names and text of documents; `answerResult` puts it into a fence. Both together say
 * everything that `structured` says, because some clients show only one of the two to their model.
 */
export type ToolAnswer<Structured = object> = { structured: Structured; summary: string; untrusted?: string }

/** The declaration of a tool. Everything that clients learn about the tool comes from it. */
export type ToolOptions<Input extends TObject, Output extends TObject> = {
  name: string
  title: string
  /** What the tool is for and how to use it, written for a model. */
  description: string
  /** The arguments; take the members from the schemas of the routes that the tool calls. */
  input: Input
  output: Output
  /** True when no call changes anything that a user could see. */
  readOnly: boolean
  /** True when a call can take away or replace what was there. */
  destructive?: boolean
  /** True when a repetition of a call changes nothing more. */
  idempotent?: boolean
  /** True when a call reaches beyond this service, such as a model provider. */
  openWorld?: boolean
  run: (args: Static<Input>, use: ToolUse) => Promise<ToolAnswer<Static<Output>>>
}

/** A tool as the registry holds it. `listed` is its entry in `tools/list`. */
export type Tool = {
  name: string
  listed: ListedTool
  output: TSchema
  call: (args: unknown, use: ToolUse) => Promise<ToolAnswer>
}

/** An entry of `tools/list`. */
export type ListedTool = {
  name: string
  title: string
  description: string
  inputSchema: { type: 'object' }
  outputSchema: { type: 'object' }
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean }
}

/** Declares a tool. Wrong arguments are refused with `invalid_request` before the tool runs. */
export function tool<Input extends TObject, Output extends TObject>(options: ToolOptions<Input, Output>): Tool {
  const { name, title, description, input, output, readOnly, run } = options
  const read = bodyReader(input)
  return {
    name,
    listed: {
      name,
      title,
      description,
      inputSchema: leanSchema(input, 'input') as ListedTool['inputSchema'],
      outputSchema: leanSchema(output, 'output') as ListedTool['outputSchema'],
      annotations: {
        readOnlyHint: readOnly,
        destructiveHint: options.destructive ?? false,
        idempotentHint: options.idempotent ?? readOnly,
        openWorldHint: options.openWorld ?? false,
      },
    },
    output,
    call: (args, use) => {
      requireKnownArguments(input, args)
      return run(read(withDocumentIds(args)) as Static<Input>, use)
    },
  }
}

// A route ignores members that it does not know. A model that has misspelt an argument would not notice.
function requireKnownArguments({ properties }: TObject, args: unknown): void {
  const known = Object.keys(properties)
  const unknown = Object.keys(args ?? {}).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const message = known.length === 0 ? 'the tool takes no arguments' : `unknown; the arguments are ${known.join(', ')}`
  throw new Refusal('invalid_request', {
    details: { fields: unknown.slice(0, 20).map((name) => ({ path: `/${name}`, message })) },
  })
}
