import type { Parent, PhrasingContent } from 'mdast'
import { type Code, type Construct, type Event, type Extension, isWordCharacter, type Tokenize } from './grammar.ts'

const equals = 61

type Token = Event[1]
type Context = Event[2]
type Compiler = { enter: (node: object, token: Token) => void; exit: (token: Token) => void }

declare module 'mdast' {
  interface PhrasingContentMap {
    highlight: Highlight
  }
  interface RootContentMap {
    highlight: Highlight
  }
}

/** The mdast node of highlighted text. */
export interface Highlight extends Parent {
  type: 'highlight'
  children: PhrasingContent[]
}

// A token of a `==` that says whether a highlight may begin at the `==`, and whether a highlight may end at it.
type Sequence = Token & { _open?: boolean; _close?: boolean }

const construct: Construct = { name: 'highlight', previous: (code) => code !== equals, tokenize, resolveAll }

/**
 * Reads highlighted text between `==` and `==`. Each `==` touches a word on its inner side, so neither `a == b` nor
 * `===` is highlighted. A closing `==` belongs to the nearest earlier `==` that may open, so that highlights do not
 * nest. The time is linear in the text.
 */
export const highlight: Extension = { text: { [equals]: construct }, insideSpan: { null: [construct] } }

/** Turns the tokens of `highlight` into an mdast node `highlight` with children. */
export const highlightFromMarkdown = {
  canContainEols: ['highlight'],
  enter: {
    highlight(this: Compiler, token: Token) {
      this.enter({ type: 'highlight', children: [] }, token)
    },
  },
  exit: {
    highlight(this: Compiler, token: Token) {
      this.exit(token)
    },
  },
}

function tokenize(
  this: ThisParameterType<Tokenize>,
  ...[effects, ok, nok]: Parameters<Tokenize>
): ReturnType<Tokenize> {
  const before = this.previous
  return first

  function first(code: Code) {
    effects.enter(temporary)
    effects.consume(code)
    return second
  }

  function second(code: Code) {
    if (code !== equals) return nok(code)
    effects.consume(code)
    return after
  }

  function after(code: Code) {
    if (code === equals) return nok(code)
    const sequence: Sequence = effects.exit(temporary)
    sequence._open = isWordCharacter(code)
    sequence._close = isWordCharacter(before)
    return ok(code)
  }
}

// The types of micromark know only micromark's own tokens, so the names of the tokens of `==` need a cast.
const temporary = 'highlightSequenceTemporary' as Token['type']
const final = 'highlightSequence' as Token['type']

/**
 * Puts each pair of `==`, with everything between the two, into a token `highlight`. Any other `==` becomes text. The
 * events are changed in place, because the parser keeps the list.
 */
function resolveAll(events: Event[], context: Context): Event[] {
  const ends = pairs(events)
  const before = [...events]
  events.length = 0
  for (let index = 0; index < before.length; index += 1) {
    const event = before[index] as Event
    const end = event[0] === 'enter' ? ends.get(event[1]) : undefined
    const resolved = end === undefined ? [event] : highlighted(before.slice(index, end + 2), context)
    for (const inner of resolved) events.push(inner)
    if (end !== undefined) index = end + 1
    else if (event[1].type === temporary) event[1].type = 'data'
  }
  return events
}

/**
 * Finds the pairs of `==` that enclose a highlight. Maps the token of each opening pair to the index in `events` of the
 * closing pair.
 */
function pairs(events: Event[]): Map<Token, number> {
  const ends = new Map<Token, number>()
  let open: Token | undefined
  for (const [index, [kind, token]] of events.entries()) {
    if (kind !== 'enter' || token.type !== temporary) continue
    const { _open, _close } = token as Sequence
    if (open !== undefined && _close) {
      ends.set(open, index)
      open = undefined
    } else if (_open) open = token
  }
  return ends
}

// Turns the events of a pair of `==`, and of everything between the pair, into the events of a highlight.
function highlighted(events: Event[], context: Context): Event[] {
  const [opening, closing] = [events[0], events.at(-1)] as [Event, Event]
  const token = { type: 'highlight', start: { ...opening[1].start }, end: { ...closing[1].end } } as unknown as Token
  for (const [, sequence] of [opening, closing]) sequence.type = final
  const inside = resolveInside(events.slice(2, -2), context)
  return [['enter', token, context], ...events.slice(0, 2), ...inside, ...events.slice(-2), ['exit', token, context]]
}

// Resolves the events inside a highlight by themselves, so that emphasis that begins within a highlight also ends
// within the highlight.
function resolveInside(events: Event[], context: Context): Event[] {
  const constructs = context.parser.constructs.insideSpan.null ?? []
  const resolvers = new Set(constructs.map((inner) => inner.resolveAll).filter((resolver) => resolver !== undefined))
  let resolved = events
  for (const resolver of resolvers) resolved = resolver(resolved, context)
  return resolved
}
