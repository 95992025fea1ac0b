import { runInThisContext } from 'node:vm'
import { t } from '../support/tap.ts'
import type { Use } from './entry.ts'
import { findGrowth, type Group } from './measure.ts'
import { WorkCounter } from './work.ts'

// The counter leaves out the code of the tests, so these readers are compiled under another file name.
const linear = reader('(text) => { let sum = 0; for (const sign of text) if (sign === "a") sum += 1; return sum }')
const quadratic = reader('(text) => { let sum = 0; for (const _ of text) for (const _ of text) sum += 1; return sum }')
const long = reader('(text) => text.repeat(text.length)')
const native = reader("(text) => /b+$/.test(text + 'c')")

const effort = { first: 64, work: 200_000, size: 2048, timedSize: 16_384 }
const counter = new WorkCounter()
t.teardown(() => counter.end())

t.test('a reader that costs more than its text is found, with the function that does the work', async (t) => {
  const found = await findGrowth(measurement(), [group({ linear, quadratic })])
  t.match(found, [{ use: 'quadratic', grows: 'work', culprit: /^\(anonymous\) seeded\.js/ }])
})

t.test('a costly reader does not hide among many readers of other texts', async (t) => {
  const many = Array.from({ length: 60 }, (_, index) => [`linear ${index}`, linear] as const)
  const groups = [group(Object.fromEntries(many)), group({ quadratic })]
  t.match(await findGrowth(measurement(), groups), [{ use: 'quadratic' }])
})

t.test('an answer that grows faster than the text is found', async (t) => {
  t.match(await findGrowth(measurement(), [group({ long })]), [{ use: 'long', grows: 'answer' }])
})

t.test('a regular expression that costs more than its text is found by its time', async (t) => {
  const timed = { ...group({ native }), inputOf: (size: number) => 'b'.repeat(size), isNative: true }
  t.match(await findGrowth(measurement(), [timed]), [{ use: 'native', grows: 'time' }])
})

t.test('readers that cost as much as their text are let through', async (t) => {
  t.strictSame(await findGrowth(measurement(), [group({ linear })]), [])
})

function measurement() {
  return { counter, effort, onTry: () => {} }
}

function group(uses: Readonly<Record<string, Use>>): Group {
  return { entry: 'a text', inputOf: (size) => 'a'.repeat(size), uses, isNative: false }
}

function reader(source: string): Use {
  return runInThisContext(source, { filename: 'seeded.js' }) as Use
}
