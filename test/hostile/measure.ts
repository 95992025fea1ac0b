import { Refusal } from '../../shared/errors/errors.ts'
import { ModelError } from '../../shared/models/model.ts'
import type { Use } from './entry.ts'
import type { Work, WorkCounter } from './work.ts'

/** The readers of one input of any size. A size above the longest accepted input means that longest input. */
export type Group = {
  entry: string
  inputOf: (size: number) => unknown
  uses: Readonly<Record<string, Use>>
  isNative: boolean
}

/** The first size at which readers are measured, and the end: a number of executed code blocks, or a size. */
export type Effort = { first: number; work: number; size: number; timedSize: number }

/** The cost of readers at one size. */
export type Sample = {
  size: number
  /** The number of executed code blocks. */
  work: number
  /** The length of the results as JSON. */
  answer: number
  /** The milliseconds of the clock and of the processor. Some machines count the latter in steps of four. */
  clock: number
  cpu: number
}

/** A reader whose cost grows faster than its input, and the function that does most of the additional work. */
export type Finding = {
  entry: string
  use: string
  grows: 'work' | 'answer' | 'time'
  samples: readonly Sample[]
  culprit: string
}

/** Is called before each try, since a try may never end. */
export type OnTry = (tried: { groups: readonly Group[]; size: number; before: readonly Sample[] }) => void

type Measurement = { counter: WorkCounter; effort: Effort; onTry: OnTry }

/**
 * Finds the readers whose work, result or time grows faster than the input. All readers are measured together. Only if
 * something grows, the readers of each entry are measured, and then each reader by itself.
 */
export async function findGrowth(measurement: Measurement, groups: readonly Group[]): Promise<Finding[]> {
  const findings: Finding[] = []
  if (await new Growth(measurement, groups).isSuspicious()) {
    for (const group of groups) {
      if (groups.length > 1 && !(await new Growth(measurement, [group]).isSuspicious())) continue
      for (const single of singles(group)) findings.push(...(await new Growth(measurement, [single]).counted()))
    }
  }
  for (const single of groups.filter(({ isNative }) => isNative).flatMap(singles)) {
    findings.push(...(await new Growth(measurement, [single]).timed()))
  }
  return findings
}

function singles(group: Group): Group[] {
  return Object.entries(group.uses).map(([name, use]) => ({ ...group, uses: { [name]: use } }))
}

// Costs are compared at three sizes, each four times the previous size, by the cost that each unit of the input adds.
// This cost grows by a seventh for n·log n at these sizes, and at least doubles for n².
const step = 4
const bound = 1.35
// One reader must not hide among many, so functions are compared, too. A function may grow by steps, so its bound is
// higher.
const functionBound = 1.8
const functionShare = 0.01
// The growth of a smaller cost says nothing.
const leastWork = 5000
const leastAnswer = 100_000
const answerBound = 1.8

// Native work shows only in the time, which other processes disturb. Eight times the input may take 24 times as long.
const timedStep = 8
const timeBound = 24
const noticeableTime = 12
const unnoticeableTime = 0.3
// The number of times that a slow result is measured again before it is believed.
const timings = 5

class Growth {
  readonly #measurement: Measurement
  readonly #groups: readonly Group[]
  readonly #samples: Sample[] = []
  readonly #works: Work[] = []
  /** The groups whose input is refused from some size on, before any reader gets it. */
  readonly #refused = new Set<Group>()

  constructor(measurement: Measurement, groups: readonly Group[]) {
    this.#measurement = measurement
    this.#groups = groups
  }

  /** Whether some cost may grow faster than the input, and does so again with four times the input. */
  async isSuspicious(): Promise<boolean> {
    const { first, work, size } = this.#measurement.effort
    const each = Math.max(1, (await this.#count(first)) / first)
    // The size is as large as the effort allows for linear work, but large enough for a comparison.
    const largest = Math.max(first * step * step, Math.min(size, 2 ** Math.floor(Math.log2(work / each))))
    await this.#count(largest / step)
    await this.#count(largest)
    if (!this.#growsAnywhere()) return false
    // A threshold makes a cost grow only once. A cost far over the effort needs no second look.
    if ((this.#samples.at(-1)?.work ?? 0) > step * work) return true
    await this.#count(largest * step)
    return this.#growsAnywhere()
  }

  /** The findings for a single reader whose cost certainly grows faster than the input. */
  async counted(): Promise<Finding[]> {
    const { first, work, size } = this.#measurement.effort
    for (let next = first; next <= size * step; next *= step) {
      const effort = await this.#count(next)
      const last = this.#samples.at(-1) as Sample
      const measured = (['work', 'answer'] as const).find((one) => this.#grows(one) && last[one] > this.#enough(one))
      if (measured !== undefined) return [this.#finding(measured, this.#samples.slice(-3))]
      if (effort > work * step * step) break
    }
    return []
  }

  /** The finding for a single native reader whose time grows faster than the input. */
  async timed(): Promise<Finding[]> {
    for (let size = 1024; size <= this.#measurement.effort.timedSize; size *= 2) {
      const { clock } = await this.#run(size)
      if (clock < noticeableTime) continue
      // The lower bound of the large input's time is compared with the upper bound of the small input's time.
      const large = await this.#quickest(size, (sample) => Math.min(sample.clock, sample.cpu))
      if (large.cpu < noticeableTime / 2) continue
      const small = await this.#quickest(size / timedStep, (sample) => sample.clock)
      if (Math.min(large.clock, large.cpu) > timeBound * Math.max(unnoticeableTime, small.clock)) {
        return [this.#finding('time', [small, large])]
      }
      if (clock > noticeableTime * step) break
    }
    return []
  }

  /** The cost from which on growth is no accident. The effort for all readers together is much for one reader. */
  #enough(measured: 'work' | 'answer'): number {
    return measured === 'work' ? this.#measurement.effort.work : leastAnswer
  }

  #growsAnywhere(): boolean {
    return this.#grows('work') || this.#grows('answer') || this.#hasGrowingFunction()
  }

  #grows(measured: 'work' | 'answer'): boolean {
    const [least, most] = measured === 'work' ? [leastWork, bound] : [leastAnswer, answerBound]
    const costs = this.#samples.slice(-3).map((sample) => ({ size: sample.size, cost: sample[measured] }))
    return (costs.at(-1)?.cost ?? 0) > least && increase(costs) > most
  }

  #hasGrowingFunction(): boolean {
    const works = this.#works.slice(-3)
    const sizes = this.#samples.slice(-3).map(({ size }) => size)
    const last = works.at(-1)
    if (last === undefined) return false
    const least = Math.max(leastWork, last.total * functionShare)
    return [...last.byFunction].some(([name, count]) => {
      if (count < least) return false
      return (
        increase(works.map(({ byFunction }, index) => ({ size: sizes[index] ?? 0, cost: byFunction.get(name) ?? 0 }))) >
        functionBound
      )
    })
  }

  /** Measures one size. The returned work includes the making of the input, which is not the readers' work. */
  async #count(size: number): Promise<number> {
    this.#measurement.onTry({ groups: this.#groups, size, before: this.#samples })
    const { counter } = this.#measurement
    counter.take()
    const inputs = this.#inputs(size)
    const making = counter.take()
    const sample = await this.#read(inputs, size)
    const work = counter.take()
    this.#samples.push({ ...sample, work: work.total })
    this.#works.push(work)
    return making.total + work.total
  }

  async #run(size: number): Promise<Sample> {
    this.#measurement.onTry({ groups: this.#groups, size, before: this.#samples })
    return this.#read(this.#inputs(size), size)
  }

  async #quickest(size: number, timeOf: (sample: Sample) => number): Promise<Sample> {
    let quickest = await this.#run(size)
    for (let time = 1; time < timings; time += 1) {
      const sample = await this.#run(size)
      if (timeOf(sample) < timeOf(quickest)) quickest = sample
    }
    return quickest
  }

  #inputs(size: number): { input: unknown; uses: Group['uses'] }[] {
    return this.#groups.flatMap((group) => {
      if (this.#refused.has(group)) return []
      try {
        return [{ input: group.inputOf(size), uses: group.uses }]
      } catch (error) {
        if (!isAnswer(error)) throw error
        this.#refused.add(group)
        return []
      }
    })
  }

  async #read(inputs: readonly { input: unknown; uses: Group['uses'] }[], size: number): Promise<Sample> {
    const sample = { size, work: 0, answer: 0, clock: 0, cpu: 0 }
    for (const { input, uses } of inputs) {
      for (const use of Object.values(uses)) {
        const before = process.threadCpuUsage()
        const started = performance.now()
        const answer = await answerOf(use, input)
        sample.clock += performance.now() - started
        const { user, system } = process.threadCpuUsage(before)
        sample.cpu += (user + system) / 1000
        sample.answer += lengthOf(answer)
      }
    }
    return sample
  }

  #finding(grows: Finding['grows'], samples: readonly Sample[]): Finding {
    const [group] = this.#groups
    const [from, to] = [this.#works.at(-2), this.#works.at(-1)]
    const added = [...(to?.byFunction ?? [])].map(([name, count]) => ({
      name,
      count: count - step * (from?.byFunction.get(name) ?? 0),
    }))
    const culprit = added.sort((a, b) => b.count - a.count)[0]?.name ?? 'a native function'
    return { entry: group?.entry ?? '', use: Object.keys(group?.uses ?? {})[0] ?? '', grows, samples, culprit }
  }
}

/** The ratio of the cost that a unit of the input adds between the last two sizes to that between the first two. */
function increase(costs: readonly { size: number; cost: number }[]): number {
  const [small, middle, large] = costs
  if (small === undefined || middle === undefined || large === undefined) return 0
  // Small inputs may take a separate path, so a larger input may add little or nothing to their cost.
  const first = Math.max((middle.cost - small.cost) / (middle.size - small.size), middle.cost / middle.size)
  const second = (large.cost - middle.cost) / (large.size - middle.size)
  return second / Math.max(first, 1e-3)
}

async function answerOf(use: Use, input: unknown): Promise<unknown> {
  try {
    return await use(input)
  } catch (error) {
    if (isAnswer(error)) return error.code
    throw error
  }
}

/** Runs a reader. A refusal counts as a result; any other error is thrown. */
function isAnswer(error: unknown): error is Refusal | ModelError {
  return error instanceof Refusal || error instanceof ModelError
}

function lengthOf(answer: unknown): number {
  if (typeof answer === 'string') return answer.length
  return typeof answer === 'object' && answer !== null ? JSON.stringify(answer).length : 0
}
