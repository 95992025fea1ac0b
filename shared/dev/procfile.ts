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

function parseLine(line: string): ProcessType {
  const [, name, command] = /^([\w-]+):\s*(\S.*)$/.exec(line) ?? []
  if (name === undefined || command === undefined) throw new Error(`The Procfile has a line without a command: ${line}`)
  return { name, command }
}
