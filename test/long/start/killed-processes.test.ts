import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseProcfile } from '../../../shared/start/processes.ts'
import { noChromium, startChromium } from '../../pages/browser/chromium.ts'
import { processesOf, root, startWholeService } from '../../support/processes.ts'
import { t } from '../../support/tap.ts'
import { WrittenPage } from '../../support/written-page.ts'

const directory = mkdtempSync(join(tmpdir(), 'documents-killed-'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))
const { processes } = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8'))
const longestGapMs = 10_000
const noKills = process.platform === 'linux' ? noChromium : 'finds processes as Linux lists them'

t.test('whatever process is killed, no letter and no acknowledged write is lost', { skip: noKills }, async (t) => {
  const service = await startWholeService({ directory, words: ['--apart'] })
  t.teardown(service.stop)
  const { origin } = service
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const create = async (title: string): Promise<string> => {
    const answer = await fetch(`${origin}/api/v1/documents`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': title },
      body: JSON.stringify({ title, content: { format: 'markdown', content: title } }),
    })
    if (answer.status !== 201) throw new Error(String(answer.status))
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  const id = await create('Elephants')

  const person = { context: await (await startChromium(t)).newContext({ baseURL: origin }), incidents: [] }
  const login = await person.context.newPage()
  const { email, password } = JSON.parse(readFileSync(join(directory, 'bootstrap.json'), 'utf8'))
  await login.goto('/login')
  await login.locator('input[name=email]').fill(email)
  await login.locator('input[name=password]').fill(password)
  await login.locator('input[name=password]').press('Enter')
  await login.waitForURL((url) => url.pathname === '/')
  const editor = await WrittenPage.open(person, { origin, id })
  await editor.place({ block: 0 })

  const over = new AbortController()
  const words: string[] = []
  const typing = (async () => {
    while (!over.signal.aborted) {
      words.push(`w${words.length}`)
      await editor.page.keyboard.type(` ${words.at(-1)}`, { delay: 20 })
    }
  })()
  const written: string[] = []
  let [longest, last] = [0, performance.now()]
  const writing = (async () => {
    for (let number = 0; !over.signal.aborted; ) {
      const made = await create(`d${number}`).catch(() => undefined)
      if (made === undefined) {
        await sleep(50)
        continue
      }
      written.push(made)
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
      number += 1
    }
  })()

  const [postmaster = ''] = readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const victims = processes.map(({ name, command }) => ({
    name,
    pid: processesOf(directory).find((running) => running.command === command)?.pid ?? Number.NaN,
  }))
  for (const { name, pid } of [...victims, { name: 'postgres', pid: Number(postmaster) }]) {
    process.kill(pid, 'SIGKILL')
    await sleep(1000)
    while (!(await fetch(`${origin}/readyz`).then(isWhole, () => false))) await sleep(50)
    t.match(service.output(), `"process":"${name}"`, `the death of ${name} is logged`)
    await sleep(1000)
  }
  over.abort()
  await Promise.all([typing, writing])

  const deaths = service.output().match(/"reason":"ended( by SIGKILL|, see postgres.log)".*"msg":"a process ended"/g)
  t.equal(deaths?.length, victims.length + 1, 'a line for each death')
  t.ok(longest < longestGapMs, `the API answered after ${Math.round(longest)} ms at the latest`)
  for (const made of written) {
    const { status } = await fetch(`${origin}/api/v1/documents/${made}`, { headers })
    if (status !== 200) t.fail(`${made}, which was acknowledged, answers ${status}`)
  }
  const text = `Elephants ${words.join(' ')}`
  t.equal(await editor.text.textContent(), text, 'the person has every letter')
  const stored = async () => {
    const answer = await fetch(`${origin}/api/v1/documents/${id}/content?format=markdown`, { headers })
    return ((await answer.json()) as { data: { content: string } }).data.content.trim()
  }
  const deadline = Date.now() + longestGapMs
  while ((await stored()) !== text && Date.now() < deadline) await sleep(100)
  t.equal(await stored(), text, 'every letter is stored')
  t.comment(`${written.length} writes, ${words.length} words, longest gap ${Math.round(longest)} ms`)
})

async function isWhole(readiness: Response): Promise<boolean> {
  return readiness.ok && !('down' in ((await readiness.json()) as object))
}
