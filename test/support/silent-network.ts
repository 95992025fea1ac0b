import { execFileSync } from 'node:child_process'
import type { Teardown } from './site.ts'

/**
 * A network between this machine and a network namespace, which can fall silent. A bridge in the middle is switched
 * off. Then packets vanish in both directions, and neither end gets an error.
 */
export type SilentNetwork = {
  /** The address of this machine in the network. */
  host: string
  /** The address of the namespace. */
  guest: string
  /** The words that run a command inside the namespace. */
  within: string[]
  fallSilent: () => void
  comeBack: () => void
}

/** Makes a network, which is removed with the test. Undefined where this is not allowed or iproute2 is missing. */
export function createSilentNetwork(t: Teardown): SilentNetwork | undefined {
  const name = `fault${process.pid}`
  const [bridge, near, nearPort, far, farPort] = ['b', 'n', 'm', 'f', 'g'].map((end) => `${end}${name}`) as Five
  const subnet = `10.213.${process.pid % 250}`
  const [host, guest] = [`${subnet}.1`, `${subnet}.2`]
  t.teardown(() => {
    for (const words of [`link del ${near}`, `link del ${farPort}`, `link del ${bridge}`, `netns del ${name}`]) {
      tryTo(words)
    }
  })
  const made = [
    ...[`netns add ${name}`, `link add ${bridge} type bridge`, `link add ${near} type veth peer name ${nearPort}`],
    ...[`link add ${far} netns ${name} type veth peer name ${farPort}`, `link set ${nearPort} master ${bridge} up`],
    ...[`link set ${farPort} master ${bridge} up`, `link set ${bridge} up`, `addr add ${host}/24 dev ${near}`],
    ...[`link set ${near} up`, `-n ${name} addr add ${guest}/24 dev ${far}`, `-n ${name} link set ${far} up`],
    ...[`-n ${name} link set lo up`],
  ].every(tryTo)
  if (!made) return undefined
  return {
    host,
    guest,
    within: ['ip', 'netns', 'exec', name],
    fallSilent: () => ip(`link set ${bridge} down`),
    comeBack: () => ip(`link set ${bridge} up`),
  }
}

type Five = [string, string, string, string, string]

function ip(words: string): void {
  execFileSync('ip', words.split(' '), { stdio: 'pipe' })
}

function tryTo(words: string): boolean {
  try {
    ip(words)
    return true
  } catch {
    return false
  }
}
