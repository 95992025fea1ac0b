/** How one environment variable is read; `shared/config/config.ts` parses them all and the README's table is tested against them. */
export type Setting<T> = {
  meaning: string
  /** As the README shows it. */
  defaultText: string
  /** What a valid value looks like, for the refusal at start. */
  allowed: string
  /** Returns undefined when the text is not allowed. An unset or empty variable never gets here. */
  parse: (text: string) => T | undefined
  fallback: T
  /** Takes the place of the fallback with NODE_ENV=production. */
  inProduction?: T
  /** A secret is never repeated, not even when it is refused. */
  secret?: boolean
}

/** A whole number between `min`, which is 0 unless it is given, and `max`. */
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

/** A limit that 0 and everything below it lifts (decisions 8). */
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

/** Free text, optionally held against a pattern; `defaultText` is what the README shows where the default is computed. */
export function text(options: {
  meaning: string
  fallback?: string
  defaultText?: string
  pattern?: RegExp
  allowed?: string
  secret?: boolean
}): Setting<string> {
  return {
    meaning: options.meaning,
    defaultText: options.defaultText ?? options.fallback ?? '',
    allowed: options.allowed ?? 'any text',
    parse: (value) => (options.pattern === undefined || options.pattern.test(value) ? value : undefined),
    fallback: options.fallback ?? '',
    secret: options.secret ?? false,
  }
}

/** A comma-separated list; each item is held against `pattern`. */
export function list(options: {
  meaning: string
  fallback: string[]
  pattern: RegExp
  allowed: string
  defaultText?: string
}): Setting<string[]> {
  return {
    meaning: options.meaning,
    defaultText: options.defaultText ?? options.fallback.join(','),
    allowed: options.allowed,
    parse: (value) => {
      const items = value.split(',').map((item) => item.trim())
      return items.every((item) => options.pattern.test(item)) ? items : undefined
    },
    fallback: options.fallback,
  }
}

/** One of a closed set of words. */
export function choice<const T extends string>(meaning: string, options: readonly T[], fallback: T): Setting<T> {
  return {
    meaning,
    defaultText: fallback,
    allowed: options.join(', '),
    parse: (value) => options.find((option) => option === value),
    fallback,
  }
}
