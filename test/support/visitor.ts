import { parseSetCookie, stringifyCookie } from 'cookie'
import { startSession } from '../../shared/auth/sessions.ts'
import { httpCall } from './http-call.ts'
import type { TestService } from './service.ts'

/** The answer of a page. `location` is the target of a redirect. */
export type Visit = { status: number; headers: Headers; html: string; location: string | null }

/** A browser without scripts. It keeps cookies and sends forms, but follows no redirect by itself. */
export class Visitor {
  readonly origin: string
  readonly cookies = new Map<string, string>()
  readonly #headers: Record<string, string>

  constructor(origin: string, headers: Record<string, string> = {}) {
    this.origin = origin
    this.#headers = headers
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Visit> {
    return this.#visit('GET', path, { headers })
  }

  /** Sends a form with exactly these fields. */
  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Visit> {
    const type = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }
    return this.#visit('POST', path, { headers: { ...type, ...headers }, body: `${new URLSearchParams(fields)}` })
  }

  /** Opens a page and sends its form, with these fields and the form's hidden fields. */
  async submit(input: { page: string; action?: string; fields: Record<string, string> }): Promise<Visit> {
    const { html } = await this.get(input.page)
    const action = input.action ?? input.page.split('?')[0] ?? ''
    return this.post(action, { ...hiddenFields(html, action), ...input.fields })
  }

  /** Sends a form of a signed-in user, with these fields and the token of the session. */
  async send(action: string, fields: Record<string, string>): Promise<Visit> {
    const { html } = await this.get('/device')
    return this.post(action, { ...hiddenFields(html, '/logout'), ...fields })
  }

  signIn(credentials: { email: string; password: string }, next?: string): Promise<Visit> {
    const page = next === undefined ? '/login' : `/login?next=${encodeURIComponent(next)}`
    return this.submit({ page, fields: credentials })
  }

  async #visit(
    method: string,
    path: string,
    options: { headers: Record<string, string>; body?: string },
  ): Promise<Visit> {
    const cookie = stringifyCookie(Object.fromEntries(this.cookies))
    const own = { ...this.#headers, ...(cookie !== '' && { cookie }), ...options.headers }
    const { status, headers, text } = await httpCall(this.origin + path, { method, headers: own, body: options.body })
    for (const line of headers.getSetCookie()) {
      const { name, value, maxAge } = parseSetCookie(line)
      if (maxAge === 0 || value === undefined) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return { status, headers, html: text, location: headers.get('location') }
  }
}

/** A browser with a session of the user. It saves the time for checking a password. */
export async function signedInVisitor(
  service: TestService,
  who: { userId: string; address?: string },
): Promise<Visitor> {
  const { database, config } = service
  const visitor = new Visitor(service.origin, who.address === undefined ? {} : { 'x-forwarded-for': who.address })
  const id = await startSession({ db: database, secret: config.SESSION_SECRET }, who.userId)
  visitor.cookies.set(config.PUBLIC_ORIGIN.startsWith('https:') ? '__Host-svc_session' : 'svc_session', id)
  return visitor
}

/** The hidden fields of the form on a page whose action is `action`. */
export function hiddenFields(html: string, action: string): Record<string, string> {
  const forms = html.split('<form').slice(1)
  const form = forms.find((text) => text.includes(`method="post" action="${action}"`)) ?? ''
  const inputs = (form.split('</form>')[0] ?? '').matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, unescaped(value)]))
}

function unescaped(text: string): string {
  const characters: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (entity) => characters[entity] ?? entity)
}
