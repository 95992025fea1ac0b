import { spawnSync } from 'node:child_process'

/**
 * Words to put before a command so that it receives the signal when the process that started it dies, even by SIGKILL.
 * Needs Linux and util-linux's setpriv; elsewhere the list is empty and such a child outlives its parent. `setpriv`
 * replaces itself by the command, which therefore keeps the process id.
 */
export function signalledOnParentDeath(signal: 'TERM' | 'QUIT'): string[] {
  return hasSetpriv() ? ['setpriv', '--pdeathsig', signal] : []
}

let found: boolean | undefined

function hasSetpriv(): boolean {
  found ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0
  return found
}
