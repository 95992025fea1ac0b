import fc from 'fast-check'
import { sql } from 'slonik'
import type { Page } from '../../api/pages/page.ts'
import { pages } from '../../api/pages/pages.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runsTimes } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor } from '../support/visitor.ts'

const names = ['next', 'user_code', 'after', 'code', 'state', 'name', 'access', 'expires_in_days', 'decision', 'email']

const hostileText = fc.oneof(
  fc.constantFrom('', '\u0000', 'a\u0000b', '\u202e', '%', '%00', '%E0%A4%A', '..', '../..', "'; DROP TABLE users; --"),
  fc.constantFrom('<script>alert(1)</script>', '"><img src=x>', '__proto__', 'constructor', 'x'.repeat(5000)),
  fc.constantFrom('approve', 'deny', 'read_write', '/device', 'tok_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
  fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => text.toWellFormed()),
)
const fields = fc.dictionary(fc.constantFrom(...names), hostileText, { maxKeys: 6 })
const attack = fc.record({ segment: hostileText, query: fields, form: fields })

t.test('no input whatsoever breaks a page', async (t) => {
  const service = await startTestService(t)
  const { user_id } = await service.signUp()
  const visitor = await signedInVisitor(service, { userId: user_id })
  const token = hiddenFields((await visitor.get('/device')).html, '/logout')
  for (const page of pages.filter(({ path }) => path !== '/logout')) {
    // Hashing passwords would only take time here. Other tests try the fields of the sign-in form.
    const own = page.path === '/login' ? {} : token
    const property = fc.asyncProperty(attack, async ({ segment, query, form }) => {
      await service.database.query(sql.unsafe`DELETE FROM rate_limit_windows`)
      const path = addressOf(page, { segment, query })
      const visits = [
        ...(page.get ? [await visitor.get(path)] : []),
        ...(page.post ? [await visitor.post(path, { ...form, ...own })] : []),
      ]
      for (const { status, html } of visits) {
        if (status >= 500) throw new Error(`${status} ${html}`)
        if (html.includes('<script>alert(1)')) throw new Error(`it runs what it was sent: ${html}`)
      }
    })
    const outcome = await fc.check(property, runsTimes(0.3))
    t.notOk(outcome.failed, `${page.path}: ${outcome.failed ? fc.defaultReportMessage(outcome) : 'holds'}`)
  }
})

function addressOf(page: Page, parts: { segment: string; query: Record<string, string> }): string {
  const path = page.path.replaceAll(/\{\w+\}/g, encodeURIComponent(parts.segment) || 'x')
  return `${path}?${new URLSearchParams(parts.query)}`
}
