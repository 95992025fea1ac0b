import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Config } from '../../../shared/config/config.ts'
import { describeReference } from '../../docs/reference.ts'
import { routes } from '../../routes/routes.ts'
import { page } from '../page.ts'
import { view } from '../render.ts'
import { type ReferenceView, referenceView } from './pages.ts'

const apiDocsView = view<ReferenceView>('api-docs')

/** The reference of the API for people, the same for everybody; it is written when it is first asked for. */
export const apiDocsPage = page({
  path: '/api-docs',
  async get({ service, request, response }) {
    const { plain, gzipped } = await renderedReference(service.config)
    const isGzipped = request.acceptsEncodings('gzip') === 'gzip'
    response.type('text/html; charset=utf-8').set('Cache-Control', 'no-cache').vary('Accept-Encoding')
    if (isGzipped) response.set('Content-Encoding', 'gzip')
    response.end(isGzipped ? gzipped : plain)
    return undefined
  },
})

type Rendered = { plain: Buffer; gzipped: Buffer }

const rendered = new WeakMap<Config, Promise<Rendered>>()

function renderedReference(config: Config): Promise<Rendered> {
  const known = rendered.get(config) ?? render(config)
  rendered.set(config, known)
  return known
}

async function render(config: Config): Promise<Rendered> {
  const reference = await referenceView(describeReference({ routes, config }))
  const plain = Buffer.from(apiDocsView({ ...reference, title: 'API reference' }))
  return { plain, gzipped: await promisify(gzip)(plain) }
}
