import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the numbered migrations are. */
export const migrationDirectory = fileURLToPath(new URL('../../sql', import.meta.url))

/** The names under which `schema_migrations` records the files of `sql/` once they are applied, in their order. */
export function migrationNames(): string[] {
  return readdirSync(migrationDirectory)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort()
}
