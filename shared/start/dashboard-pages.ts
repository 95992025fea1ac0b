/**
 * An answer of pg-boss's dashboard without its font, which comes from Google. The addresses are taken out of pages and
 * scripts, since no policy keeps a browser from connecting to the host of a `preconnect`; the policy refuses the rest.
 */
export async function withoutForeignHosts(answer: Response): Promise<Response> {
  const { status, statusText } = answer
  const headers = new Headers(answer.headers)
  headers.set('Content-Security-Policy', policy)
  if (answer.body === null || !isText(headers.get('content-type') ?? '')) {
    return new Response(answer.body, { status, statusText, headers })
  }
  const text = (await answer.text()).replaceAll(fontAddress, emptyStylesheet)
  headers.delete('Content-Length')
  return new Response(text, { status, statusText, headers })
}

// The dashboard starts itself by scripts within its pages and styles single elements.
const policy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline' data:",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const fontAddress = /https:\/\/fonts\.(?:googleapis|gstatic)\.com[^"'`<>\s\\]*/g
const emptyStylesheet = 'data:text/css,'

function isText(contentType: string): boolean {
  return /^text\/(?:html|javascript|x-script)|^application\/javascript/.test(contentType)
}
