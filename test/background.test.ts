import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { root } from './support/processes.ts'

/*
 * The files of these folders wait most of the time: for processes that stop, for retries, for packets that never come.
 * tap runs files in the order of their names, so three files that wait would run at a time, and nothing would use the
 * CPU. `.taprc` leaves these folders out, and this file, which is among the first, runs their files beside all others.
 */
const folders = ['test/faults', 'test/workers']

t.jobs = 2
t.setTimeout(0)

for (const folder of folders) {
  for (const name of (await readdir(join(root, folder))).filter((name) => name.endsWith('.test.ts'))) {
    const path = `${folder}/${name}`
    t.spawn(process.execPath, [...process.execArgv, path], { name: path, cwd: root, timeout: 240_000 })
  }
}
