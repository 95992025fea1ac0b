/**
 * The headers that bound what a browser does with a page: no scripts, no frames around it, nothing from other origins,
 * and forms only to this origin. `relaxed` widens single directives, such as `style-src` for documents with styles.
 */
export function pageHeaders(relaxed: Partial<Policy> = {}): Record<string, string> {
  const policy = Object.entries({ ...strictest, ...relaxed })
  return {
    'Content-Security-Policy': policy.map(([directive, sources]) => `${directive} ${sources}`).join('; '),
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Cache-Control': 'no-store',
  }
}

type Policy = typeof strictest

const strictest = {
  'default-src': "'none'",
  'style-src': "'self'",
  'img-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
}
