/**
 * The headers that bound what a browser does with a page. Scripts, frames around the page and other origins are
 * forbidden, and forms may be sent only to this origin. `relaxed` widens single directives, such as `style-src` for
 * documents with styles, and `script-src` for the editor.
 */
export function pageHeaders(relaxed: Policy = {}): Record<string, string> {
  const policy = Object.entries({ ...strictest, ...relaxed })
  return {
    'Content-Security-Policy': policy.map(([directive, sources]) => `${directive} ${sources}`).join('; '),
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Cache-Control': 'no-store',
  }
}

type Policy = Partial<Record<keyof typeof strictest | 'script-src' | 'connect-src' | 'frame-src' | 'sandbox', string>>

const strictest = {
  'default-src': "'none'",
  'style-src': "'self'",
  'img-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
}
