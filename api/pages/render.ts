import { join } from 'node:path'
import { Eta } from 'eta'
import { assetAddress } from './assets.ts'

/** What the layout around a page needs. */
export type Frame = {
  title: string
  /** Who is signed in, and the token for the form that signs out. */
  account?: { email: string; csrfToken: string }
  /** Without the service's navigation: for a page that is about its content alone, such as a shared document. */
  bare?: boolean
  /** Whether search engines may list it; by default they may not. */
  indexed?: boolean
  /** Canonical BCP 47 tag of the content; by default English. */
  locale?: string | null
}

const eta = new Eta({ views: join(import.meta.dirname, 'templates'), autoEscape: true, cache: true })

/**
 * The view of a template in `templates/`: a function from the frame and the data of the page to HTML. The template names
 * its layout and sees both as `it`; `<%= %>` escapes.
 */
export function view<Data extends object = object>(name: string): (data: Frame & Data) => string {
  return (data) => eta.render(name, { ...data, dir: directionOf(data.locale ?? 'en'), asset: assetAddress })
}

function directionOf(locale: string): 'ltr' | 'rtl' {
  // TypeScript does not know the method yet.
  const known = new Intl.Locale(locale) as Intl.Locale & { getTextInfo: () => { direction?: 'ltr' | 'rtl' } }
  return known.getTextInfo().direction ?? 'ltr'
}

/** A point in time for a `<time>` element. */
export type Moment = { iso: string; text: string }

/** Of Unix milliseconds: to the minute, in UTC, since the server does not know where the reader is. */
export function momentOf(milliseconds: number): Moment {
  const iso = new Date(milliseconds).toISOString()
  return { iso, text: `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` }
}
