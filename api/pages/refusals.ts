import { errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import type { Refusal } from '../../shared/errors/errors.ts'

/** A refusal in words for a person: status, heading, and one or two sentences that say what to do. */
export class PageRefusal extends Error {
  readonly status: number
  readonly heading: string
  readonly headers: Record<string, string>

  constructor(status: number, words: { heading: string; advice: string; headers?: Record<string, string> }) {
    super(words.advice)
    this.name = 'PageRefusal'
    this.status = status
    this.heading = words.heading
    this.headers = words.headers ?? {}
  }
}

/** The refusal (404) of an address with nothing that this person may see. */
export function pageMissing(): PageRefusal {
  return new PageRefusal(404, {
    heading: 'Page not found',
    advice: 'There is nothing at this address. It may have been mistyped, or what stood here was removed.',
  })
}

/** Puts a refusal that was made for programs into words for a person. */
export function pageRefusalOf(refusal: Refusal | PageRefusal): PageRefusal {
  if (refusal instanceof PageRefusal) return refusal
  if (refusal.status === 404) return pageMissing()
  const { status, headers } = refusal
  const words = wordsOf[status] ?? { heading: 'This did not work', advice: errorCatalogue[refusal.code].message }
  return new PageRefusal(status, { ...words, headers })
}

const wordsOf: Record<number, { heading: string; advice: string }> = {
  405: { heading: 'Nothing happens here', advice: 'This address cannot be used in that way. Go back and try again.' },
  413: { heading: 'Too much at once', advice: 'What was sent is larger than this page takes.' },
  429: { heading: 'Too many attempts', advice: 'Please wait a little before you try again.' },
  500: {
    heading: 'Something went wrong',
    advice:
      'It is not your fault, and it was written down. Try again; if it happens again, give the operator the number below.',
  },
  503: {
    heading: 'Not available right now',
    advice: 'A part of the service cannot be reached. Try again in a moment.',
  },
}
