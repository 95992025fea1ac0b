import { assetPage } from './assets.ts'
import type { Page } from './page.ts'

/** Every page, in no particular order; a new one is added here. */
export const pages: readonly Page[] = [assetPage]
