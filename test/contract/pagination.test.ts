import fc from 'fast-check'
import { type CursorScope, decodeCursor, encodeCursor, pageOf, takeWithin } from '../../api/http/pagination.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

const scope: CursorScope = { endpoint: 'GET /documents', filters: { folder_id: 3 }, sort: 'updated_at' }

const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((value) => !value.includes('\u0000'))
const place = fc.tuple(fc.integer({ min: 0, max: 8_000_000_000_000 }), text)
const filters = fc.dictionary(fc.string({ maxLength: 8 }), fc.oneof(fc.string(), fc.integer(), fc.boolean()))

t.test('a list goes on exactly where its page ended', async (t) => {
  fc.assert(
    fc.property(place, filters, (position, given) => {
      const here = { ...scope, filters: given }
      const cursor = encodeCursor(here, position)
      return (
        /^[A-Za-z0-9_-]+$/.test(cursor) &&
        JSON.stringify(decodeCursor(here, cursor, ['number', 'string'])) === JSON.stringify(position)
      )
    }),
    runsTimes(2),
  )
  t.pass('for every position')
})

t.test('a cursor belongs to its endpoint and its filters, in whatever order they are given', async (t) => {
  const cursor = encodeCursor(scope, [1])
  for (const foreign of [
    { ...scope, endpoint: 'GET /folders' },
    { ...scope, filters: { folder_id: 4 } },
    { ...scope, filters: {} },
    { ...scope, filters: { folder_id: 3, q: 'x' } },
  ]) {
    t.throws(() => decodeCursor(foreign, cursor, ['number']), { code: 'invalid_cursor' })
  }
  const ordered = encodeCursor({ ...scope, filters: { a: 1, b: 2 } }, [1])
  t.same(decodeCursor({ ...scope, filters: { b: 2, a: 1 } }, ordered, ['number']), [1])
})

t.test('a cursor of another sort order is told apart from a foreign one', async (t) => {
  const cursor = encodeCursor({ ...scope, sort: 'id' }, ['doc_1'])
  t.throws(() => decodeCursor(scope, cursor, ['number', 'string']), {
    code: 'cursor_sort_mismatch',
    details: { cursor_sort: 'id', requested_sort: 'updated_at' },
  })
})

t.test('a cursor that somebody made up never reaches the database', async (t) => {
  const genuine = encodeCursor(scope, [1, 'doc_1'])
  const forged = (position: unknown[]) => {
    const parts = JSON.parse(Buffer.from(genuine, 'base64url').toString()) as unknown[]
    return Buffer.from(JSON.stringify([...parts.slice(0, 2), ...position])).toString('base64url')
  }
  const positions = [
    [],
    [1],
    ['1', 'doc_1'],
    [1, 2],
    [1.5, 'a'],
    [1e300, 'a'],
    [null, 'a'],
    [1, 'a\u0000'],
    [1, '\ud800'],
    [1, 'a', 2],
  ]
  for (const position of positions) {
    t.throws(() => decodeCursor(scope, forged(position), ['number', 'string']), { code: 'invalid_cursor' })
  }
  for (const cursor of ['', 'x', '!!!', 'bnVsbA', 'W10', 'e30', genuine.slice(1), `${genuine}${'A'.repeat(600)}`]) {
    t.throws(() => decodeCursor(scope, cursor, ['number', 'string']), { code: 'invalid_cursor' }, cursor)
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json().map(encoded)), (cursor) => {
      try {
        decodeCursor(scope, cursor, ['number', 'string'])
        return false
      } catch (error) {
        return (error as { code?: string }).code === 'invalid_cursor'
      }
    }),
    runsTimes(2),
  )
})

t.test('pages together hold every item once and the last one says so', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 40 }), fc.integer({ min: 1, max: 10 }), (items, limit) => {
      const seen: number[] = []
      let cursor: string | undefined
      for (;;) {
        const from = cursor === undefined ? 0 : Number(cursor)
        const rows = items.map((item, index) => ({ item, index })).slice(from, from + limit + 1)
        const { data, page } = pageOf({ rows, limit, cursor, next: ({ index }) => String(index + 1) })
        seen.push(...data.map(({ item }) => item))
        if (page.cursor !== (cursor ?? null) || page.has_more !== (page.next_cursor !== null)) return false
        if (page.next_cursor === null) return JSON.stringify(seen) === JSON.stringify(items)
        cursor = page.next_cursor
      }
    }),
    runsTimes(2),
  )
  t.pass('for every list and page size')
})

t.test('pages of large items end before they grow too large, and together hold every item once', async (t) => {
  const items = fc.array(fc.string({ unit: anyCharacter, maxLength: 60 }), { maxLength: 40 })
  const bounds = fc.record({ limit: fc.integer({ min: 1, max: 10 }), maxBytes: fc.integer({ min: 1, max: 300 }) })
  fc.assert(
    fc.property(items, bounds, (all, { limit, maxBytes }) => {
      const seen: string[] = []
      for (;;) {
        const { taken, hasMore } = takeWithin(all.slice(seen.length), { limit, maxBytes })
        seen.push(...taken)
        if (taken.length > limit || (hasMore && taken.length === 0)) return false
        if (taken.length > 1 && Buffer.byteLength(JSON.stringify(taken)) > maxBytes + 1) return false
        if (!hasMore) return JSON.stringify(seen) === JSON.stringify(all)
      }
    }),
    runsTimes(2),
  )
  t.pass('for every list, limit and size')
})

function encoded(value: string): string {
  return Buffer.from(value).toString('base64url')
}
