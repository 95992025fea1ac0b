/** A line of the Procfile: a process type and the shell command that runs it. */
export interface ProcessType {
  name: string
  command: string
}

/**
 * Reads a Procfile: `release`, the command that prepares a new version, apart from the processes that run all the
 * time. Throws on a line that is not `name: command`.
 */
export function parseProcfile(text: string): { release: string; processes: ProcessType[] } {
  const types = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map(parseLine)
  const release = types.find((type) => type.name === 'release')
  if (release === undefined) throw new Error('The Procfile has no release line')
  return { release: release.command, processes: types.filter((type) => type !== release) }
}

/**
 * The same processes with one for all worker types in the place of one for each: a small service needs no more, and
 * what a process costs at rest is spent once. Lines that are no plain call of `workers/main.ts` stay as they are.
 */
export function joinWorkers(processes: readonly ProcessType[]): ProcessType[] {
  const typesOf = ({ command }: ProcessType) => /^node workers\/main\.ts ([\w -]+)$/.exec(command)?.[1]
  const types = processes.flatMap((process) => typesOf(process) ?? [])
  const others = processes.filter((process) => typesOf(process) === undefined)
  if (types.length === 0) return others
  return [...others, { name: 'workers', command: `node workers/main.ts ${types.join(' ')}` }]
}

function parseLine(line: string): ProcessType {
  const [, name, command] = /^([\w-]+):\s*(\S.*)$/.exec(line) ?? []
  if (name === undefined || command === undefined) throw new Error(`The Procfile has a line without a command: ${line}`)
  return { name, command }
}
