import { pageHeaders } from '../headers.ts'
import { page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { viewerAddress, viewerFile } from './files.ts'

const viewerView = view<{ file: (name: string) => string }>('api-docs')

/** The interface description in a viewer, with which calls can be tried. */
export const apiDocsPage = page({
  path: '/api-docs',
  async get() {
    const html = viewerView({ title: 'API reference', file: viewerAddress })
    const policy = { 'script-src': "'self'", 'connect-src': "'self'", 'img-src': "'self' data:" }
    return { html, headers: pageHeaders(policy) }
  },
})

/** Scripts and styles of the viewer, from an npm package; nothing is loaded from elsewhere. */
export const apiDocsFilePage = page({
  path: '/api-docs/{name}',
  async get({ params, query, request, response }) {
    const file = viewerFile(params['name'] ?? '')
    if (file === undefined) throw pageMissing()
    const isCurrent = query.get('v') === file.version
    response.set('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache')
    response.set('Content-Type', file.type).vary('Accept-Encoding')
    const isGzipped = request.acceptsEncodings('gzip') === 'gzip'
    if (isGzipped) response.set('Content-Encoding', 'gzip')
    response.end(isGzipped ? await file.gzipped() : file.bytes)
    return undefined
  },
})
