import type { Models } from './model.ts'
import type { ProviderConfig } from './model-provider.ts'

/** The provider that is configured, opened when it is first asked: its client is large and few processes need it. */
export function openModels(config: ProviderConfig): Models {
  let provider: Promise<Models> | undefined
  return {
    async ask(request, signal) {
      provider ??= open(config).catch((error) => {
        // The next question tries again.
        provider = undefined
        throw error
      })
      return (await provider).ask(request, signal)
    },
  }
}

async function open(config: ProviderConfig): Promise<Models> {
  const { openProvider } = await import('./model-provider.ts')
  return openProvider(config)
}
