import fc from 'fast-check'
import { type Capacity, FairQueue, type Requester } from '../../shared/turns/fair-queue.ts'
import { t } from '../support/tap.ts'

type Step = { does: 'add'; requester: Requester } | { does: 'end'; which: number } | { does: 'leave'; which: number }
type Piece = { requester: Requester; number: number }

const requester = fc.record({
  workspaceId: fc.constantFrom('w1', 'w2', 'w3'),
  userId: fc.constantFrom('u1', 'u2', 'u3'),
})
const index = fc.nat(1000)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('add' as const), requester }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('end' as const), which: index }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('leave' as const), which: index }) },
)
const capacity: fc.Arbitrary<Capacity> = fc.record({
  atOnce: fc.integer({ min: 1, max: 4 }),
  ofOneWorkspace: fc.integer({ min: 1, max: 4 }),
  ofOneUser: fc.integer({ min: 1, max: 4 }),
  waiting: fc.integer({ min: 1, max: 12 }),
  waitingOfOneUser: fc.integer({ min: 1, max: 6 }),
})

/**
 * A queue of numbered pieces of work that records the fate of each piece, and compares every state with the capacity.
 */
class Run {
  readonly #queue: FairQueue<Piece>
  readonly #capacity: Capacity
  #waiting: Piece[] = []
  #running: Piece[] = []
  readonly added: Piece[] = []
  readonly started: Piece[] = []
  readonly refused: Piece[] = []
  readonly withdrawn: Piece[] = []

  constructor(capacity: Capacity) {
    this.#capacity = capacity
    this.#queue = new FairQueue(capacity)
  }

  do(step: Step): void {
    if (step.does === 'add') this.#add(step.requester)
    else if (step.does === 'end') this.#end(step.which)
    else this.#leave(step.which)
    for (let next = this.#queue.take(); next !== null; next = this.#queue.take()) {
      const piece = next.item
      this.#waiting = this.#waiting.filter((other) => other !== piece)
      this.#running.push(piece)
      this.started.push(piece)
    }
    this.#check()
  }

  /** Ends running pieces until no piece waits. */
  drain(): void {
    while (this.#running.length > 0) this.do({ does: 'end', which: 0 })
    if (this.#waiting.length > 0) throw new Error('pieces wait although nothing runs')
  }

  #add(requester: Requester): void {
    const piece = { requester, number: this.added.length }
    this.added.push(piece)
    this.#waiting.push(piece)
    const refused = this.#queue.add(requester, piece)
    if (refused === null) return
    this.#waiting = this.#waiting.filter((other) => other !== refused)
    this.refused.push(refused)
  }

  #end(which: number): void {
    const [piece] = this.#running.splice(which % Math.max(1, this.#running.length), 1)
    if (piece !== undefined) this.#queue.end(piece.requester)
  }

  #leave(which: number): void {
    const piece = this.#waiting[which % Math.max(1, this.#waiting.length)]
    if (piece === undefined || !this.#queue.remove(piece)) return
    this.#waiting = this.#waiting.filter((other) => other !== piece)
    this.withdrawn.push(piece)
  }

  #check(): void {
    const { atOnce, ofOneWorkspace = Infinity, ofOneUser = Infinity, waiting, waitingOfOneUser } = this.#capacity
    const workspace = ({ requester }: Piece) => requester.workspaceId
    const user = ({ requester }: Piece) => `${requester.workspaceId} ${requester.userId}`
    const most = (pieces: Piece[], keyOf: (piece: Piece) => string) =>
      Math.max(0, ...[...Map.groupBy(pieces, keyOf).values()].map((group) => group.length))
    const isWithin =
      this.#queue.length === this.#waiting.length &&
      this.#queue.running === this.#running.length &&
      this.#running.length <= atOnce &&
      most(this.#running, workspace) <= ofOneWorkspace &&
      most(this.#running, user) <= ofOneUser &&
      this.#waiting.length <= waiting &&
      most(this.#waiting, user) <= waitingOfOneUser
    if (!isWithin) throw new Error('a bound is exceeded')
  }
}

t.test('every piece is run, sent away or withdrawn once, and no bound is ever exceeded', async () => {
  fc.assert(
    fc.property(capacity, fc.array(step, { maxLength: 80 }), (limits, steps) => {
      const run = new Run(limits)
      for (const each of steps) run.do(each)
      run.drain()
      const ended = [...run.started, ...run.refused, ...run.withdrawn].map(({ number }) => number)
      return ended.length === run.added.length && new Set(ended).size === ended.length
    }),
  )
})

t.test('of one user the first comes first', async () => {
  fc.assert(
    fc.property(capacity, fc.array(step, { maxLength: 80 }), (limits, steps) => {
      const run = new Run(limits)
      for (const each of steps) run.do(each)
      run.drain()
      const byUser = Map.groupBy(run.started, (piece) => `${piece.requester.workspaceId} ${piece.requester.userId}`)
      return [...byUser.values()].every((pieces) =>
        pieces.every(({ number }, at) => at === 0 || (pieces[at - 1]?.number ?? 0) < number),
      )
    }),
  )
})

t.test('a workspace with one piece waits for no more than one piece of another, however many that has', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(requester, { minLength: 1, maxLength: 60 }),
      (atOnce, flood) => {
        const run = new Run({ atOnce, waiting: 1000, waitingOfOneUser: 1000 })
        for (const { userId } of flood) run.do({ does: 'add', requester: { workspaceId: 'hostile', userId } })
        const before = run.started.length
        run.do({ does: 'add', requester: { workspaceId: 'small', userId: 'u' } })
        if (run.started.length === before) run.do({ does: 'end', which: 0 })
        return run.started.at(-1)?.requester.workspaceId === 'small'
      },
    ),
  )
})

t.test('nobody starves: however others come and go, who waits is next after one turn of each of them', async () => {
  fc.assert(
    fc.property(fc.array(requester, { minLength: 1, maxLength: 30 }), (others) => {
      const run = new Run({ atOnce: 1, waiting: 1000, waitingOfOneUser: 1000 })
      for (const each of others) run.do({ does: 'add', requester: each })
      run.do({ does: 'add', requester: { workspaceId: 'patient', userId: 'u' } })
      const before = run.started.length
      // Each caller that was served comes again at once.
      for (let turn = 0; turn < 4; turn += 1) {
        run.do({ does: 'end', which: 0 })
        for (const each of others) run.do({ does: 'add', requester: each })
      }
      return run.started.slice(before).some((piece) => piece.requester.workspaceId === 'patient')
    }),
  )
})

t.test('a full queue takes from the workspace that has the most', async (t) => {
  const run = new Run({ atOnce: 1, waiting: 3, waitingOfOneUser: 9 })
  const add = (workspaceId: string) => run.do({ does: 'add', requester: { workspaceId, userId: 'u' } })
  for (const workspaceId of ['a', 'a', 'a', 'a', 'b', 'c']) add(workspaceId)
  t.strictSame(
    run.refused.map(({ requester }) => requester.workspaceId),
    ['a', 'a'],
  )
  run.drain()
  t.strictSame(
    run.started.map((piece) => piece.requester.workspaceId),
    ['a', 'b', 'c', 'a'],
  )
})
