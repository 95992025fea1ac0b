import type { StubReply, StubRequest } from './model-stub.ts'

/** A unit as the model is asked about it. */
export type AskedUnit = { id: string; text: string }

/** What a translation request asks: its user message, parsed. */
export function askedOf(request: StubRequest): { source_locale: string; target_locale: string; units: AskedUnit[] } {
  return JSON.parse(request.messages.at(-1)?.content ?? '{}')
}

/** Translates every unit of a request in the way that is given; what is null is left out of the answer. */
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

/** The translation of a text by a model that keeps everything and says in front which language it is. */
export const marked = translating(({ text }, locale) => `${locale} ${text}`)
