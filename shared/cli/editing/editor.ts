import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Failure } from '../frame/failures.ts'

/**
 * Opens a file in the editor of the person, VISUAL or else EDITOR, and waits until the editor ends. Their value is a
 * command line of the shell, as for other programs. Throws a Failure when the editor cannot be started or fails.
 */
export async function openEditor(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const command = env['VISUAL'] || env['EDITOR'] || (process.platform === 'win32' ? 'notepad' : 'vi')
  const child =
    process.platform === 'win32'
      ? spawn(`${command} "${file}"`, { stdio: 'inherit', shell: true })
      : spawn('/bin/sh', ['-c', `${command} "$@"`, command, file], { stdio: 'inherit' })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (code === 0) return
  throw new Failure('failed', 'editor_failed', {
    message: `The editor "${command}" ended with ${signal ?? `exit code ${code}`}.`,
    ...(code === 127 && { hint: 'Set EDITOR to the command of an editor.' }),
  })
}
