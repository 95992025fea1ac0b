import fc from 'fast-check'
import { attachmentSrc } from '../../../shared/body/addresses.ts'
import { bodyVersion, canonicalJson } from '../../../shared/body/canonical.ts'
import { changeBody, changeLines } from '../../../shared/body/change.ts'
import { type LineWindow, type Splice, VersionedLines } from '../../../shared/body/versioned-lines.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { t } from '../../support/tap.ts'
import { idFrom } from './random-body.ts'

/** One replacement: how many lines stand before it, how many it removes, and the numbers of the blocks that it adds. */
type Replacement = { gap: number; removes: number; adds: { block: number; text: number }[] }

const block = fc.record({ block: fc.nat(400), text: fc.nat(3) })
const replacement: fc.Arbitrary<Replacement> = fc.record({
  gap: fc.oneof(fc.nat(5), fc.nat(150)),
  removes: fc.oneof(fc.nat(3), fc.nat(150)),
  adds: fc.oneof(fc.array(block, { maxLength: 3 }), fc.array(block, { maxLength: 150 })),
})

t.test('the facts of a commit are the same whether the differing lines or the whole bodies are compared', async (t) => {
  const writes = fc.array(fc.array(replacement, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), writes, (length, all) => {
      const first = Array.from({ length }, (_, index) => lineOf(index, 0))
      const lines = atOnce(VersionedLines.of(first))
      for (const write of all) {
        const from = lines.lines
        const windows = windowsOf(from, write)
        const change = atOnce(changeLines(lines, windows))
        const texts = { from: from.join('\n'), to: lines.lines.join('\n') }
        if (texts.from === texts.to && change === null) continue
        same(change, changeBody(texts))
        same(
          [lines.version, lines.text, lines.bytes, spliced(texts.from, lines.splicesOf(windows))],
          [bodyVersion(lines.lines), texts.to, Buffer.byteLength(texts.to), texts.to],
        )
      }
    }),
  )
  t.pass()
})

/** A block with an attachment that many blocks show, or with a text. No two lines of a body have the same block id. */
function lineOf(number: number, text: number): string {
  const attachmentId = `att_${String(number % 7).padStart(26, '0')}`
  const picture = { attachmentId, src: attachmentSrc(attachmentId), alt: `${text}`, title: null }
  if (number % 5 === 0) return canonicalJson({ type: 'image', attrs: { id: idFrom(number), ...picture } })
  const content = [{ type: 'text', text: `Zeile ${number}: ${'äöü'.repeat(text)}` }]
  return canonicalJson({ type: 'paragraph', attrs: { id: idFrom(number) }, content })
}

/** The windows of a write. A block may move from one window to another. At least one line stays. */
function windowsOf(from: readonly string[], write: readonly Replacement[]): LineWindow[] {
  const windows: LineWindow[] = []
  const removed = new Set<string>()
  let [position, shift] = [0, 0]
  for (const { gap, removes } of write) {
    const start = Math.min(position + gap, from.length)
    const lines = from.slice(start, Math.min(start + removes, from.length - 1))
    for (const line of lines) removed.add(line)
    windows.push({ from: start, removed: lines, to: 0, added: [] })
    position = start + lines.length + 1
    if (position > from.length) break
  }
  const used = new Set(from.filter((line) => !removed.has(line)).map(idIn))
  return windows.map((window, index) => {
    const added = (write[index]?.adds ?? [])
      .map((one) => lineOf(one.block, one.text))
      .filter((line) => {
        const isFree = !used.has(idIn(line))
        used.add(idIn(line))
        return isFree
      })
    const made = { ...window, to: window.from + shift, added }
    shift += added.length - window.removed.length
    return made
  })
}

function idIn(line: string): string {
  return JSON.parse(line).attrs.id
}

function same(got: unknown, want: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)]
  if (left !== right) throw new Error(`got  ${left}\nwant ${right}`)
}

/** The text that splices make of a text. */
function spliced(text: string, splices: readonly Splice[]): string {
  const old = Buffer.from(`${text}\n`)
  let kept = 0
  const parts = splices.flatMap(({ offset, removed, added }) => {
    const part = [old.subarray(kept, offset), added]
    kept = offset + removed
    return part
  })
  return Buffer.concat([...parts, old.subarray(kept)])
    .toString('utf8')
    .slice(0, -1)
}
