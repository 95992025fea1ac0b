/** A time of the service, in Unix milliseconds, as a person reads it: date, hour and minute of the local time zone. */
export function timeText(milliseconds: number): string {
  // The Swedish form of a date is that of ISO 8601.
  return new Date(milliseconds).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
}

/** A number of bytes as a person reads it, such as `1.4 MB`. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}
