import { byDocument, byLocale } from '../../http/path-families.ts'
import { translationJobRoutes } from './jobs.ts'
import { auditRoutes, documentSetRoutes, setRoutes } from './sets.ts'
import { translationRoutes } from './translations.ts'
import { unitRoutes } from './units.ts'

/** The routes of document sets and translations. Both families of paths have the same handlers. */
export const localizationRoutes = [
  ...documentSetRoutes,
  ...[byDocument, byLocale].flatMap((family) => [
    ...setRoutes(family),
    ...translationRoutes(family),
    ...auditRoutes(family),
  ]),
  ...unitRoutes,
  ...translationJobRoutes,
]
