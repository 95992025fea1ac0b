// The kinds of settings are our own, because the library envalid 8.2 does not fit. The library reads `10GB` as 10 and
// `yes` as true, refuses port 0, keeps blanks and repeats a refused secret. All validators, messages and defaults of
// the library would have to be replaced, so it would save no line.

/**
 * How one environment variable is read, and what the guide's table says about it. A test compares the table with the
 * settings of `config.ts`.
 */
export type Setting<T> = {
  meaning: string
  /** The default as the guide shows it. */
  defaultText: string
  /** The valid values in words, for the refusal at start. */
  allowed: string
  /** Returns undefined for a text that is not allowed. Is never called for an unset or empty variable. */
  parse: (text: string) => T | undefined
  fallback: T
  /** Replaces `fallback` with NODE_ENV=production. */
  inProduction?: T
  /** A message never repeats the value of a secret, not even a refused value. */
  secret?: boolean
}

/** A whole number from `min` (0 by default) to `max`. */
export function integer(options: {
  meaning: string
  fallback: number
  inProduction?: number
  min?: number
  max?: number
}): Setting<number> {
  const min = options.min ?? 0
  const max = options.max ?? Number.MAX_SAFE_INTEGER
  return {
    meaning: options.meaning,
    defaultText: defaultOf(options),
    allowed: max === Number.MAX_SAFE_INTEGER ? `an integer >= ${min}` : `an integer from ${min} to ${max}`,
    parse: (text) => {
      const value = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= max ? value : undefined
    },
    fallback: options.fallback,
    ...(options.inProduction !== undefined && { inProduction: options.inProduction }),
  }
}

function defaultOf({ fallback, inProduction }: { fallback: number; inProduction?: number }): string {
  return inProduction === undefined
    ? String(fallback)
    : `\`${fallback}\`; \`${inProduction}\` with \`NODE_ENV=production\``
}

/** A limit, such as calls per minute. A value of 0 or less means that there is no limit. */
export function limit(meaning: string, fallback: number): Setting<number> {
  const least = -Number.MAX_SAFE_INTEGER
  return { ...integer({ meaning: `${meaning}; 0 or less = unlimited`, fallback, min: least }), allowed: 'an integer' }
}

/** A decimal number >= 0, or null when unset. */
export function optionalNumber(meaning: string): Setting<number | null> {
  return {
    meaning,
    defaultText: '',
    allowed: 'a number >= 0',
    parse: (text) => (/^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : undefined),
    fallback: null,
  }
}

/** `true` or `false`. */
export function boolean(meaning: string, fallback: boolean): Setting<boolean> {
  return {
    meaning,
    defaultText: String(fallback),
    allowed: 'true or false',
    parse: (text) => ({ true: true, false: false })[text],
    fallback,
  }
}

/** Free text that matches `pattern` if there is one. `defaultText` describes a computed default for the guide. */
export function text(options: {
  meaning: string
  fallback?: string
  defaultText?: string
  pattern?: RegExp
  /** Returns the value in its canonical form; undefined for a value that is not allowed. */
  canonical?: (value: string) => string | undefined
  allowed?: string
  secret?: boolean
}): Setting<string> {
  const { pattern, canonical = (value) => value } = options
  return {
    meaning: options.meaning,
    defaultText: options.defaultText ?? options.fallback ?? '',
    allowed: options.allowed ?? 'any text',
    parse: (value) => (pattern === undefined || pattern.test(value) ? canonical(value) : undefined),
    fallback: options.fallback ?? '',
    secret: options.secret ?? false,
  }
}

/** A comma-separated list whose items match `pattern`. */
export function list(options: {
  meaning: string
  fallback: string[]
  pattern: RegExp
  canonical?: (item: string) => string | undefined
  allowed: string
  defaultText?: string
}): Setting<string[]> {
  const { pattern, canonical = (item) => item } = options
  return {
    meaning: options.meaning,
    defaultText: options.defaultText ?? options.fallback.join(','),
    allowed: options.allowed,
    parse: (value) => {
      const items = value.split(',').map((item) => (pattern.test(item.trim()) ? canonical(item.trim()) : undefined))
      return items.every((item) => item !== undefined) ? items : undefined
    },
    fallback: options.fallback,
  }
}

/** One word of a fixed set. */
export function choice<const T extends string>(meaning: string, options: readonly T[], fallback: T): Setting<T> {
  return {
    meaning,
    defaultText: fallback,
    allowed: options.join(', '),
    parse: (value) => options.find((option) => option === value),
    fallback,
  }
}
