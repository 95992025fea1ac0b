import { glob } from 'node:fs/promises'
import { root } from './processes.ts'

/** The folders of each lane. The files of a lane run in one process, one after the other; lanes run side by side. */
export const lanes: Readonly<Record<string, readonly string[]>> = {
  processes: ['faults', 'workers', 'start'],
  cli: ['cli'],
  pages: ['pages', 'sharing'],
  search: ['search', 'relations', 'changes', 'concepts'],
  collab: ['collab', 'live', 'streams', 'tools'],
  derived: ['localization', 'summaries', 'jobs', 'races', 'client', 'sign-in'],
  bodies: ['bodies', 'documents', 'knowledge-bases', 'attachments', 'trash'],
  contract: ['contract', 'rest', 'repository'],
  storm: ['storm'],
  document: ['document', 'computations'],
  // Counts the work of functions, which other tests in its process would disturb.
  hostile: ['hostile'],
}

/** A lane of a run: its name and its files, as paths from the root of the repository. */
export type Lane = { name: string; files: readonly string[] }

/** The test files of a run in the order of their paths; `named` are files and folders. */
export async function testFiles(options: { named: readonly string[]; long: boolean }): Promise<string[]> {
  const { named, long } = options
  const patterns = (named.length === 0 ? ['test'] : named).map((path) =>
    path.endsWith('.ts') ? path : `${path}/**/*.test.ts`,
  )
  const files = await Array.fromAsync(glob(patterns, { cwd: root }))
  const asks = (file: string) => long || named.length > 0 || !file.startsWith('test/long/')
  return [...new Set(files)].filter(asks).sort()
}

/** Divides files into lanes. A long test runs in the lane of its folder below `test/long/`. */
export function lanesOf(files: readonly string[]): Lane[] {
  return Object.entries(lanes).flatMap(([name, folders]) => {
    const own = files.filter((file) => folders.includes(folderOf(file)))
    return own.length === 0 ? [] : [{ name, files: own }]
  })
}

/** The folder of a test file by which it belongs to a lane. */
export function folderOf(file: string): string {
  return /^test\/(?:long\/)?([^/]+)\//.exec(file)?.[1] ?? ''
}
