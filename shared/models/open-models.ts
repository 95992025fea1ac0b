import type { Models } from './model.ts'
import type { ProviderConfig } from './model-provider.ts'

/**
 * The configured provider. The client of the provider, which is large and which few processes need, is loaded by the
 * first question.
 */
export function openModels(config: ProviderConfig): Models {
  let provider: Promise<Models> | undefined
  return {
    async ask(request, signal) {
      provider ??= open(config).catch((error) => {
        // The client could not be loaded, so the next question tries again.
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
