import { page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { pageScripts } from './bundle.ts'

/** A script of a page. Its name contains the digest of its content, so a browser asks for it once. */
export const scriptPage = page({
  path: '/assets/scripts/{name}',
  async get({ params, request, response }) {
    const script = (await pageScripts()).files.get(params['name'] ?? '')
    if (script === undefined) throw pageMissing()
    response.set({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' })
    // The frame that draws diagrams has no origin. The scripts are the same for everybody.
    response.set('Access-Control-Allow-Origin', '*')
    response.type('text/javascript; charset=utf-8')
    const takesGzip = request.acceptsEncodings('gzip') === 'gzip'
    if (takesGzip) response.set('Content-Encoding', 'gzip')
    response.end(takesGzip ? script.compressed : script.bytes)
    return undefined
  },
})
