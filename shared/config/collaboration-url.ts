import type { Config } from './config.ts'

/** The path at which editors reach live editing, on the port of the collab process and on the API's own port. */
export const collaborationPath = '/collab'

/**
 * The address of live editing that clients are told: COLLAB_URL, or COLLAB_PORT on the host of PUBLIC_ORIGIN. Where the
 * service is reached over TLS, the address demands TLS too, since a token must not travel in the clear.
 */
export function collaborationUrl(config: Pick<Config, 'COLLAB_URL' | 'COLLAB_PORT' | 'PUBLIC_ORIGIN'>): string {
  if (config.COLLAB_URL !== '') return config.COLLAB_URL
  const { protocol, hostname } = new URL(config.PUBLIC_ORIGIN)
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${hostname}:${config.COLLAB_PORT}${collaborationPath}`
}
