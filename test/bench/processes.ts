import { execFileSync } from 'node:child_process'
import { startApi } from '../support/processes.ts'
import { createDocument, type Site } from '../support/site.ts'
import { type Figure, ms, percentile, rate } from './harness.ts'

/** Measures how fast an API process starts, and the memory of each process after some work. */
export async function measureProcesses(site: Site): Promise<Figure[]> {
  const starts: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const started = performance.now()
    const api = await startApi(site.env)
    starts.push(performance.now() - started)
    await api.stop()
  }
  const workers = {
    search: await site.work('search'),
    events: await site.work('events'),
    sweeps: await site.work('sweeps'),
  }
  await rate({ count: 200, concurrency: 4 }, (index) => createDocument(site, `# Heading\n\nparagraph ${index}`))
  const memory = Object.entries({ api: site.api, ...workers }).map(([name, { pid }]) => ({
    name: `resident memory of ${name} after 200 documents`,
    value: `${Math.round(residentKilobytes(pid) / 1024)} MB`,
  }))
  return [{ name: 'API process, start to ready, p50', value: ms(percentile(starts, 50)) }, ...memory]
}

function residentKilobytes(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
}
