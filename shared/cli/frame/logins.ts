import { chmod, type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from './failures.ts'

/**
 * A token that `login` has kept for the service at one origin. `requested` says that `login` has got the token from the
 * service, and nobody else uses it.
 */
export type Login = { token: string; email: string; saved_at: number; requested?: boolean }

/** The kept logins by origin, and the origin that is meant when none is named. */
export type Logins = { default_origin: string | null; logins: Record<string, Login> }

/** The folder where programs of the user keep their settings, by the custom of the operating system. */
export function configDirectory(env: NodeJS.ProcessEnv, platform = process.platform): string {
  if (platform === 'win32') return env['APPDATA'] || join(homedir(), 'AppData', 'Roaming')
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  // An XDG_CONFIG_HOME that is not absolute is to be ignored.
  const given = env['XDG_CONFIG_HOME']
  return given?.startsWith('/') ? given : join(homedir(), '.config')
}

/**
 * The file with the tokens of the user. Nobody else can read the file or its folder. A change replaces the file as a
 * whole, so that no reader and no crash ever meets half of it. Changes of several processes follow each other.
 */
export class LoginFile {
  readonly path: string

  constructor(directory: string) {
    this.path = join(directory, 'knowledge-base', 'logins.json')
  }

  /** The kept logins; none when there is no file. Throws a Failure for a file that this program has not written. */
  async read(): Promise<Logins> {
    const text = await readFile(this.path, 'utf8').catch(emptyIfAbsent)
    if (text === '') return { default_origin: null, logins: {} }
    try {
      const { default_origin, logins } = JSON.parse(text) as Partial<Logins>
      if (typeof logins === 'object' && logins !== null) return { default_origin: default_origin ?? null, logins }
    } catch {
      // The failure below says what can be done. The error of the parser would quote the file, which holds tokens.
    }
    throw new Failure('failed', 'invalid_login_file', {
      message: `${this.path} is not a file of logins.`,
      hint: 'Remove the file and sign in again.',
    })
  }

  /** Replaces the kept logins by what `change` makes of them. */
  async update(change: (logins: Logins) => Logins): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 })
    await chmod(dirname(this.path), 0o700)
    const next = `${this.path}.new`
    const file = await openAlone(next)
    try {
      await file.writeFile(`${JSON.stringify(change(await this.read()), null, 2)}\n`)
      await file.sync()
      await file.close()
      await rename(next, this.path)
    } catch (error) {
      await file.close().catch(() => undefined)
      await rm(next, { force: true })
      throw error
    }
  }
}

// A process writes the file within milliseconds. A file that has waited for longer was left by a crash.
const abandonedAfterMs = 5000

// Opens a file that must not exist, which makes it a lock: whoever has opened it is the only writer.
async function openAlone(path: string): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(path, 'wx', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && Date.now() - found.mtimeMs > abandonedAfterMs) await rm(path, { force: true })
    else await sleep(20)
  }
}

function emptyIfAbsent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}
