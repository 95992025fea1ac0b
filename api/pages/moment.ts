/** A point in time for a `<time>` element. */
export type Moment = { iso: string; text: string }

/** Of Unix milliseconds: to the minute, in UTC, since the server does not know where the reader is. */
export function momentOf(milliseconds: number): Moment {
  const iso = new Date(milliseconds).toISOString()
  return { iso, text: `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` }
}
