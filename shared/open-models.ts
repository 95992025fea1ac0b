import type { Models } from './model.ts'
import type { ProviderConfig } from './model-provider.ts'

/** The provider that is configured, opened when it is first asked: its client is large and few processes need it. */
export function openModels(config: ProviderConfig): Models {
  let provider: Promise<Models> | undefined
  return {
    async ask(request, signal) {
      provider ??= import('./model-provider.ts').then(({ openProvider }) => openProvider(config))
      return (await provider).ask(request, signal)
    },
  }
}
