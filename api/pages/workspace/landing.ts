import type { PageAnswer, PageCall } from '../page.ts'
import { view } from '../render.ts'

const landingView = view<{ apiBase: string; mcpAddress: string }>('landing')

/** The start page for people who are not signed in. It says which service this is and where to go. */
export async function landing({ service }: PageCall): Promise<PageAnswer> {
  const { PUBLIC_ORIGIN } = service.config
  const [apiBase, mcpAddress] = [`${PUBLIC_ORIGIN}/api/v1`, `${PUBLIC_ORIGIN}/mcp`]
  return { html: landingView({ title: 'Knowledge base', apiBase, mcpAddress, indexed: true }) }
}
