/** A way by which a user's text enters the service, with all code that reads the text there. */
export type Entry = {
  name: string
  /** Turns the text into the input of the readers, which counts as no work. A refusal here ends the measurement. */
  input: (text: string) => unknown
  /** The readers, by name. */
  uses: Readonly<Record<string, Use>>
  /** The longest accepted text, in UTF-16 units. */
  longest?: number
  /** True for readers that work mostly in native functions. Their time is compared too, at larger sizes. */
  isNative?: boolean
}

/** One reader. A promise is awaited. The length of a text or an object that it returns is measured, too. */
// biome-ignore lint/suspicious/noExplicitAny: each entry knows the type of its own input
export type Use = (input: any) => unknown
