import { decodeTime } from 'ulid'

/**
 * Returns a function that makes equal what two runs of the same calls cannot have in common: times since `begun`, in
 * Unix milliseconds, and ids that were made since then.
 */
export function blurredSince(begun: number): (text: string) => string {
  const isNew = (time: number) => time >= begun
  return (text) =>
    text
      .replaceAll(/"(\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?)"/g, (found, time) =>
        isNew(Date.parse(time)) ? '"<since>"' : found,
      )
      .replaceAll(/\b1[0-9]{12}\b/g, (found) => (isNew(Number(found)) ? '0' : found))
      .replaceAll(/(_)([0-7][0-9A-HJKMNP-TV-Z]{25})/g, (found, sign, ulid) =>
        isNew(decodeTime(ulid)) ? `${sign}<new>` : found,
      )
}
