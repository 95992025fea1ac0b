import type { ParameterMarks } from '../../api/http/input.ts'
import { isRead, type Route } from '../../api/http/route.ts'
import { routes as table } from '../../api/routes/routes.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import { Client } from '../support/client.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { createFixture, validCall, withModel } from './fixtures.ts'

const routes = table.filter(({ access }) => access !== 'anyone')

t.test('no endpoint but those of the device flow answers without a token', async (t) => {
  const { origin } = await sharedService()
  const nobody = new Client({ origin })
  for (const spec of routes) {
    const reply = await nobody.call(spec.method, anyPath(spec))
    t.match(
      reply,
      { status: 401, body: { error: { type: 'authentication_error', code: 'missing_token' } } },
      nameOf(spec),
    )
    t.equal(reply.headers.get('www-authenticate'), 'Bearer realm="svc"')
    t.equal(reply.body.request_id, reply.headers.get('x-request-id'))
  }
})

t.test('a token can do nothing that one of its missing scopes covers', async (t) => {
  const { signUp } = await sharedService()
  for (const scope of scopes) {
    const limited = await signUp({ scopes: scopes.filter((other) => other !== scope) })
    for (const spec of routes.filter((route) => route.scopes.includes(scope))) {
      const reply = await limited.call(spec.method, anyPath(spec))
      t.match(
        reply,
        { status: 403, body: { error: { type: 'permission_error', code: 'insufficient_scope' } } },
        nameOf(spec),
      )
      t.same(reply.body.error.details, { required_scopes: spec.scopes })
      t.match(reply.headers.get('www-authenticate'), 'error="insufficient_scope"')
    }
  }
})

t.test('a viewer reads everything in the workspace but its audit, and changes nothing', async (t) => {
  const { signUp } = await startTestService(t, withModel)
  const owner = await signUp({ workspace: 'shared' })
  const viewer = await signUp({ workspace: 'shared', role: 'viewer' })
  const fixture = await createFixture(owner)
  for (const spec of routes) {
    const reply = await validCall({ client: viewer, spec, fixture })
    if (isRead(spec) && spec.operationId !== 'listAudit') t.ok(reply.status < 300, `${nameOf(spec)}: ${reply.text}`)
    else t.match(reply, { status: 403, body: { error: { code: 'forbidden' } } }, `${nameOf(spec)}: ${reply.text}`)
  }
})

t.test('what belongs to another workspace does not exist', async (t) => {
  const { signUp } = await startTestService(t, withModel)
  const owner = await signUp()
  const stranger = await signUp()
  const [own, fixture] = [await createFixture(stranger), await createFixture(owner)]
  for (const spec of routes) {
    const reply = await validCall({ client: stranger, spec, fixture })
    const codes = missingCodes(spec)
    if (codes.length > 0) {
      t.equal(reply.status, 404, `${nameOf(spec)}: ${reply.text}`)
      t.ok(codes.includes(reply.body.error.code), `${nameOf(spec)}: ${reply.text}`)
    } else t.notOk(reply.status < 300 && reply.text.includes(fixture.marker), `${nameOf(spec)} leaks ${reply.text}`)
    const mixed = await validCall({ client: stranger, spec, fixture: own, bodyFixture: fixture })
    t.notOk(mixed.text.includes(fixture.marker), `${nameOf(spec)} reaches another workspace through its body`)
  }
})

t.test('the owner can do all of it', async (t) => {
  const { signUp } = await startTestService(t, withModel)
  const owner = await signUp()
  const untouched = await createFixture(owner)
  for (const spec of routes) {
    const fixture = spec.method === 'GET' ? untouched : await createFixture(owner, spec)
    const reply = await validCall({ client: owner, spec, fixture })
    t.notOk([400, 401, 403, 404, 415, 428].includes(reply.status), `${nameOf(spec)}: ${reply.text}`)
  }
})

function missingCodes(spec: Route): string[] {
  const parameters: ParameterMarks[] = Object.values(spec.params?.properties ?? {})
  const codes = parameters.flatMap((parameter) => parameter['x-error'] ?? [])
  return codes.filter((code) => code.endsWith('_not_found'))
}

// The service looks at nothing in the path before it knows that the token is valid.
function anyPath(spec: Route): string {
  return spec.path.replaceAll(/\{\w+\}/g, '1')
}

function nameOf(spec: Route): string {
  return `${spec.method} ${spec.path}`
}
