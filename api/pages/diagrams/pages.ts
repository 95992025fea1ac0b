import { pageHeaders } from '../headers.ts'
import { page } from '../page.ts'
import { view } from '../render.ts'
import { scriptPath } from '../scripts/bundle.ts'

const diagramsView = view<{ script: string }>('diagrams')

/**
 * The page in a frame of the editor that draws diagrams. Its policy takes its origin away, so that nothing in a diagram
 * can reach the session of the reader. Mermaid writes styles into what it draws.
 */
export const diagramsPage = page({
  path: '/editor/diagrams',
  async get() {
    const policy = pageHeaders({
      sandbox: 'allow-scripts',
      'script-src': "'self'",
      'style-src': "'unsafe-inline'",
      'frame-ancestors': "'self'",
    })
    return {
      html: diagramsView({ title: 'Diagrams', script: await scriptPath('diagrams') }),
      headers: { ...policy, 'X-Frame-Options': 'SAMEORIGIN' },
    }
  },
})
