import { InvalidArgumentError } from 'commander'

/** Reads the value of an option that takes a whole number from 1 on. Tells commander what is wrong with another. */
export function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A whole number from 1 on is needed.')
}

/** Reads the value of an option that takes seconds, such as `1.5`. Tells commander what is wrong with another. */
export function seconds(text: string): number {
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A number of seconds is needed.')
}

/** Gathers the values of an option that may be given several times. */
export function repeated(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text]
}
