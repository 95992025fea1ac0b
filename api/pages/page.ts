import type { Request, Response } from 'express'
import type { Service } from '../http/service.ts'

/** The input of a page's handler. */
export type PageCall = {
  service: Service
  request: Request
  response: Response
  /** The `{name}` segments of the path, decoded. */
  params: Record<string, string>
  query: URLSearchParams
  /** Reads the fields of the submitted form; a missing field is the empty string. */
  form: () => Promise<Form>
}

/** A form that was submitted. A field that was sent twice, or that PostgreSQL cannot store, counts as missing. */
export type Form = {
  field: (name: string) => string
  /** All fields by their names. */
  fields: ReadonlyMap<string, string>
}

/**
 * An answer of a page: HTML to show, or a path of this origin to go to (303); undefined when the handler has answered
 * by itself.
 */
export type PageAnswer =
  | { status?: number; html: string; headers?: Record<string, string> }
  | { location: string }
  | undefined

type Handler = (call: PageCall) => Promise<PageAnswer>

/**
 * A page: its path below the origin with `{name}` parameters, and its handlers. GET also serves HEAD. `formMaxBytes` is
 * the size of the largest form, if the usual 16 KiB are not enough.
 */
export type Page = { path: string; get?: Handler; post?: Handler; formMaxBytes?: number }

/** Declares a page for which nobody has to be signed in. */
export function page(spec: Page): Page {
  return spec
}
