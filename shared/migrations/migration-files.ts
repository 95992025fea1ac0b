import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// This file stands apart from `migrations.ts` because every process reads the names at `/readyz`, and only the migrate
// command needs the libraries that apply migrations.

/** The folder of the numbered migrations. */
export const migrationDirectory = fileURLToPath(new URL('../../sql', import.meta.url))

/** The names that `schema_migrations` has after all files of `sql/` are applied, in the order of the files. */
export function migrationNames(): string[] {
  return readdirSync(migrationDirectory)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort()
}
