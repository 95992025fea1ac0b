import { LRUCache } from 'lru-cache'

/** A page as it is sent; `version` is that of its bytes, for the ETag. */
export type RenderedPage = { version: string; bytes: Buffer; headers: Record<string, string> }

/** A page that was rendered, and the key of what it shows. */
type Rendering = { key: string; page: RenderedPage }

/**
 * The rendered pages of this process that were asked for last, 64 MiB at most. A key names everything that a page
 * depends on, so a page never has to be forgotten for being old.
 */
const pages = new LRUCache<string, RenderedPage>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ bytes }, key) => bytes.length + key.length + 1000,
})

const running = new Map<string, Promise<Rendering>>()

/**
 * The page of a key. It is rendered when it is not remembered, once for all who ask at the same time; `render` names the
 * key of what it has rendered, since that can have changed meanwhile. Rejects as `render` does.
 */
export async function renderedPage(key: string, render: () => Promise<Rendering>): Promise<RenderedPage> {
  const known = pages.get(key)
  if (known !== undefined) return known
  // Whoever began may have failed for a reason of its own, such as a client that went away.
  const shared = await running.get(key)?.catch(() => undefined)
  if (shared !== undefined) return shared.page
  const rendering = render()
  running.set(key, rendering)
  try {
    const rendered = await rendering
    pages.set(rendered.key, rendered.page)
    return rendered.page
  } finally {
    if (running.get(key) === rendering) running.delete(key)
  }
}
