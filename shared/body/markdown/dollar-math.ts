import type { Code, Construct, Event, Extension, Tokenize } from './grammar.ts'

const dollar = 36
const backslash = 92

// The types of micromark know only micromark's own tokens, so the names of the tokens of math need a cast.
const math = 'mathText' as Event[1]['type']
const fence = 'mathTextSequence' as Event[1]['type']
const content = 'mathTextData' as Event[1]['type']

/**
 * Reads inline math between single dollars by GitHub's rule. There is no white space just inside the dollars and no
 * digit right behind the closing dollar. All math is on one line. A dollar within the math is written `\$`. The tokens
 * are those of `micromark-extension-math`, which reads math between two or more dollars. The time is linear in the
 * text, because the search for a closing dollar ends at the next dollar.
 */
export const dollarMath: Extension = {
  text: {
    [dollar]: {
      name: 'dollarMath',
      previous(code) {
        return code !== dollar || this.events.at(-1)?.[1].type === 'characterEscape'
      },
      tokenize,
    } satisfies Construct,
  },
}

function tokenize(...[effects, ok, nok]: Parameters<Tokenize>): ReturnType<Tokenize> {
  let last: Code = null
  return open

  function open(code: Code) {
    effects.enter(math)
    effects.enter(fence)
    effects.consume(code)
    effects.exit(fence)
    return first
  }

  function first(code: Code) {
    if (isSpace(code) || code === dollar) return nok(code)
    effects.enter(content)
    return data(code)
  }

  function data(code: Code): ReturnType<typeof nok> {
    if (isLineEnd(code)) return nok(code)
    if (code === dollar) return isSpace(last) ? nok(code) : close(code)
    effects.consume(code)
    last = code
    return code === backslash ? escaped : data
  }

  function escaped(code: Code) {
    if (isLineEnd(code)) return nok(code)
    effects.consume(code)
    last = code
    return data
  }

  function close(code: Code) {
    effects.exit(content)
    effects.enter(fence)
    effects.consume(code)
    effects.exit(fence)
    effects.exit(math)
    return after
  }

  function after(code: Code) {
    return code === dollar || isDigit(code) ? nok(code) : ok(code)
  }
}

// Codes below -2 are line endings. The codes -2 and -1 stand for a tab.
function isLineEnd(code: Code): boolean {
  return code === null || code < -2
}

function isSpace(code: Code): boolean {
  return code === null || code < 0 || /\s/.test(String.fromCharCode(code))
}

function isDigit(code: Code): boolean {
  return code !== null && code >= 48 && code <= 57
}
