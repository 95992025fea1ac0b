import type { StubReply, StubRequest } from './model-stub.ts'

/** A unit in a request to the model. */
export type AskedUnit = { id: string; text: string }

/** The parsed user message of a translation request. */
export function askedOf(request: StubRequest): { source_locale: string; target_locale: string; units: AskedUnit[] } {
  return JSON.parse(request.messages.at(-1)?.content ?? '{}')
}

/** Answers a request with the given translation of each unit. A unit whose translation is null is left out. */
export function translating(
  translate: (unit: AskedUnit, locale: string) => string | null,
): (request: StubRequest) => StubReply {
  return (request) => {
    const { target_locale, units } = askedOf(request)
    const translations = units.flatMap((unit) => {
      const text = translate(unit, target_locale)
      return text === null ? [] : [{ id: unit.id, text }]
    })
    return { text: JSON.stringify({ translations }) }
  }
}

/** Translates a text: puts the language before it. */
export const marked = translating(({ text }, locale) => `${locale} ${text}`)
