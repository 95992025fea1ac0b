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

/** Highlighted text in mdast. */
export interface Highlight extends Parent {
  type: 'highlight'
  children: PhrasingContent[]
}

// What stands in the token of a `==`, whether it may begin a highlight, end one or both.
type Sequence = Token & { _open?: boolean; _close?: boolean }

const construct: Construct = { name: 'highlight', previous: (code) => code !== equals, tokenize, resolveAll }

/**
 * Highlighted text between `==` and `==`, where both touch a word on their inner side: `==a b==`, but neither `a == b`
 * nor `===`. A closing `==` goes with the nearest one before it that may open, so that highlights do not nest. A text
 * is read in linear time.
 */
export const highlight: Extension = { text: { [equals]: construct }, insideSpan: { null: [construct] } }

/** What the tokens of `highlight` become in mdast: a node `highlight` with children. */
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

// The grammar has types for its own tokens only.
const temporary = 'highlightSequenceTemporary' as Token['type']
const final = 'highlightSequence' as Token['type']

/**
 * Puts each pair of sequences with all between them into a token `highlight`; the other sequences become text. The
 * events are changed in place, because the parser holds on to the list.
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

/** For each sequence that begins a highlight, the position where the sequence that ends it is entered. */
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

// The events are those of a sequence, of what it highlights and of the other sequence.
function highlighted(events: Event[], context: Context): Event[] {
  const [opening, closing] = [events[0], events.at(-1)] as [Event, Event]
  const token = { type: 'highlight', start: { ...opening[1].start }, end: { ...closing[1].end } } as unknown as Token
  for (const [, sequence] of [opening, closing]) sequence.type = final
  const inside = resolveInside(events.slice(2, -2), context)
  return [['enter', token, context], ...events.slice(0, 2), ...inside, ...events.slice(-2), ['exit', token, context]]
}

// Emphasis that begins within a highlight ends there, too.
function resolveInside(events: Event[], context: Context): Event[] {
  const constructs = context.parser.constructs.insideSpan.null ?? []
  const resolvers = new Set(constructs.map((inner) => inner.resolveAll).filter((resolver) => resolver !== undefined))
  let resolved = events
  for (const resolver of resolvers) resolved = resolver(resolved, context)
  return resolved
}
