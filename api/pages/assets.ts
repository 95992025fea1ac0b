import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { page } from './page.ts'
import { pageMissing } from './refusals.ts'

const types = {
  'pages.css': 'text/css; charset=utf-8',
  'document.css': 'text/css; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
  'editor.css': 'text/css; charset=utf-8',
  'workspace.css': 'text/css; charset=utf-8',
  'search.css': 'text/css; charset=utf-8',
  'panels.css': 'text/css; charset=utf-8',
  'history.css': 'text/css; charset=utf-8',
  'document-pages.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const

type AssetName = keyof typeof types

const assets = new Map(
  (Object.keys(types) as AssetName[]).map((name) => {
    const bytes = readFileSync(join(import.meta.dirname, 'assets', name))
    const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 16)
    return [name as string, { bytes, version, type: types[name] }]
  }),
)

/**
 * The address of an asset. The address changes with the content of the asset, so browsers may cache the asset for good.
 */
export function assetAddress(name: AssetName): string {
  return `/assets/${name}?v=${assets.get(name)?.version}`
}

/** The stylesheets and the icon of the pages. */
export const assetPage = page({
  path: '/assets/{name}',
  async get({ params, query, response }) {
    const asset = assets.get(params['name'] ?? '')
    if (asset === undefined) throw pageMissing()
    const isCurrent = query.get('v') === asset.version
    response.set('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache')
    response.set('Content-Type', asset.type).end(asset.bytes)
    return undefined
  },
})
