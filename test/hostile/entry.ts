/** A way by which the text of a user comes into the service, with everything that reads it there. */
export type Entry = {
  name: string
  /** What the text becomes before anybody reads it; counts as no work. A refusal here ends the measurement. */
  input: (text: string) => unknown
  /** The readers by their names. */
  uses: Readonly<Record<string, Use>>
  /** The longest text that gets in, in UTF-16 units. */
  longest?: number
  /** The readers do most of their work in native functions, so that the time is compared as well, at greater sizes. */
  isNative?: boolean
}

/** One reader; a promise is awaited. The length of its answer counts as well, where it is a text or an object. */
// biome-ignore lint/suspicious/noExplicitAny: each entry knows the type of its own input
export type Use = (input: any) => unknown
