import { readConfig } from './config.ts'
import { databaseUrlBesideService } from './dev/database-url.ts'
import { migrate } from './migrations.ts'

// `npm run migrate` and the Procfile's release step.
const url = databaseUrlBesideService(readConfig())
await migrate({ url, log: (line) => process.stdout.write(`${line}\n`) })
