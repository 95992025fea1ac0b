import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Eta } from 'eta'
import { assetAddress } from './assets.ts'

/** The input of the layout around a page. */
export type Frame = {
  title: string
  /** The person who is signed in, and the token for the form that signs out; absent when nobody is. */
  account?: { email: string; csrfToken: string }
  /** The words that the search field at the top shows; absent when nothing was searched. */
  searched?: string
  /** Whether the page has no navigation, because it is about its content alone, such as a shared document. */
  bare?: boolean
  /** Whether search engines may list the page; by default they may not. */
  indexed?: boolean
  /** Canonical BCP 47 tag of the content; by default English. */
  locale?: string | null
}

const eta = new Eta({ views: join(import.meta.dirname, 'templates'), autoEscape: true, cache: true })

/**
 * Makes the view of a template in `templates/`: a function from the frame and the data of a page to HTML. The template
 * names its layout and reads frame and data as `it`; `<%= %>` escapes. `it.formKey()` makes a key for the
 * hidden field `form_key` of a form, by which a form that arrives twice is known.
 */
export function view<Data extends object = object>(name: string): (data: Frame & Data) => string {
  const given = { asset: assetAddress, formKey: randomUUID }
  return (data) => eta.render(name, { ...data, ...given, dir: directionOf(data.locale ?? 'en') })
}

function directionOf(locale: string): 'ltr' | 'rtl' {
  // The types of TypeScript do not have the method `getTextInfo` yet.
  const known = new Intl.Locale(locale) as Intl.Locale & { getTextInfo: () => { direction?: 'ltr' | 'rtl' } }
  return known.getTextInfo().direction ?? 'ltr'
}

/** A point in time for a `<time>` element. */
export type Moment = { iso: string; text: string }

/**
 * A moment from Unix milliseconds, to the minute. The text is in UTC, because the server does not know the reader's
 * zone.
 */
export function momentOf(milliseconds: number): Moment {
  const iso = new Date(milliseconds).toISOString()
  return { iso, text: `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` }
}
