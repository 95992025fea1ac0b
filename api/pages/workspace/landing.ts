import type { PageAnswer, PageCall } from '../page.ts'
import { view } from '../render.ts'

const landingView = view<{ apiBase: string }>('landing')

/** The start page for people who are not signed in. It says which service this is and where to go. */
export async function landing({ service }: PageCall): Promise<PageAnswer> {
  const apiBase = `${service.config.PUBLIC_ORIGIN}/api/v1`
  return { html: landingView({ title: 'Knowledge base', apiBase, indexed: true }) }
}
