import {
  type Code,
  type Construct,
  type Event,
  type Extension,
  mayCloseMath,
  mayOpenMath,
  type Tokenize,
} from './grammar.ts'

const dollar = 36
const backslash = 92

// The types of micromark know only micromark's own tokens, so the names of the tokens of math need a cast.
const math = 'mathText' as Event[1]['type']
const fence = 'mathTextSequence' as Event[1]['type']
const content = 'mathTextData' as Event[1]['type']

/**
 * Reads inline math between single dollars by GitHub's rule. There is no white space just inside the dollars, and no
 * letter, digit or dollar right outside them. All math is on one line. Links, images and code come first, so math holds
 * no half of one. A dollar within the math is written `\$`. The tokens are those of `micromark-extension-math`, which
 * reads math between two or more dollars. The time is linear in the text, because the search for a closing dollar ends
 * at the next dollar.
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

function tokenize(
  this: ThisParameterType<Tokenize>,
  ...[effects, ok, nok]: Parameters<Tokenize>
): ReturnType<Tokenize> {
  const before = signOf(this.previous)
  let latex = ''
  return open

  function open(code: Code) {
    effects.enter(math)
    effects.enter(fence)
    effects.consume(code)
    effects.exit(fence)
    return first
  }

  function first(code: Code) {
    if (!mayOpenMath(before, signOf(code))) return nok(code)
    effects.enter(content)
    return data(code)
  }

  function data(code: Code): ReturnType<typeof nok> {
    if (isLineEnd(code)) return nok(code)
    if (code === dollar) return close(code)
    consume(code)
    return code === backslash ? escaped : data
  }

  function escaped(code: Code) {
    if (isLineEnd(code)) return nok(code)
    consume(code)
    return data
  }

  function consume(code: Code) {
    effects.consume(code)
    latex += signOf(code)
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
    return mayCloseMath(latex.slice(-2), signOf(code)) && !holdsHalf(latex) ? ok(code) : nok(code)
  }
}

// True for math that would hold one end of a link or of code.
function holdsHalf(latex: string): boolean {
  const unpaired = latex.replace(/\[[^[\]]*\]/g, '')
  return unpaired.includes('](') || (latex.match(/`/g)?.length ?? 0) % 2 === 1
}

function signOf(code: Code): string {
  return code === null ? '' : code < 0 ? ' ' : String.fromCharCode(code)
}

// Codes below -2 are line endings. The codes -2 and -1 stand for a tab.
function isLineEnd(code: Code): boolean {
  return code === null || code < -2
}
