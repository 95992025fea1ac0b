import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isConflictCopy } from '../../../shared/cli/sync/paths.ts'
import type { Action } from '../../../shared/cli/sync/plan.ts'
import { resultReport, type SyncReport } from '../../../shared/cli/sync/report.ts'
import { SyncService } from '../../../shared/cli/sync/service.ts'
import { isUnfinished, type RoundResult, SyncSession } from '../../../shared/cli/sync/session.ts'
import { SyncState, type SyncTarget } from '../../../shared/cli/sync/state.ts'
import { KnowledgeBase } from '../../../shared/client/client.ts'
import type { Client } from '../../support/client.ts'
import type { Teardown } from '../../support/site.ts'

type MachineOptions = { base: number; folder?: number | null; fetch?: typeof globalThis.fetch }

type SyncOptions = { mayDelete?: boolean; signal?: AbortSignal }

/** A folder of a person who syncs it with a knowledge base. Each sync opens the state anew, as the command does. */
export class Machine {
  readonly root: string
  #client: Client
  readonly #options: MachineOptions

  constructor(t: Teardown, client: Client, options: MachineOptions) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-sync-')))
    t.teardown(() => rmSync(this.root, { recursive: true, force: true }))
    this.#client = client
    this.#options = options
  }

  get target(): SyncTarget {
    return {
      origin: this.#client.origin,
      knowledge_base_id: this.#options.base,
      folder_id: this.#options.folder ?? null,
    }
  }

  /** The session of a new process. */
  session({ mayDelete = true, signal }: SyncOptions = {}): SyncSession {
    const { origin, bearer } = this.#client
    const { fetch } = this.#options
    const client = new KnowledgeBase({ origin, token: bearer, ...(fetch && { fetch }) })
    const service = new SyncService(client, { target: this.target, signal })
    const state = SyncState.open(this.root, this.target)
    return new SyncSession({ root: this.root, state, service, mayDelete })
  }

  /** Has another client sync the folder from now on. */
  signIn(client: Client): void {
    this.#client = client
  }

  /** Syncs until both sides are in step. */
  async sync(options: SyncOptions = {}): Promise<SyncReport> {
    const session = this.session(options)
    const rounds: RoundResult[] = [await session.round()]
    while (isUnfinished(rounds.at(-1)) && rounds.length < 8) rounds.push(await session.round())
    return resultReport(rounds)
  }

  async plan(): Promise<Action[]> {
    return (await this.session().preview()).plan.actions
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  /** Replaces a part of a file. */
  edit(path: string, from: string, to: string): void {
    const text = this.read(path)
    if (!text.includes(from)) throw new Error(`${path} has no ${from}:\n${text}`)
    this.write(path, text.replace(from, to))
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.root, to)), { recursive: true })
    renameSync(join(this.root, from), join(this.root, to))
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true })
  }

  /** The paths of the files, without hidden files and copies of conflicts. */
  files(): string[] {
    return this.#all().filter((path) => !isConflictCopy(path))
  }

  copies(): string[] {
    return this.#all().filter(isConflictCopy)
  }

  #all(): string[] {
    const found = readdirSync(this.root, { recursive: true, withFileTypes: true })
    const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    return paths
      .map((path) => path.slice(this.root.length + 1))
      .filter((path) => !path.split('/').some((part) => part.startsWith('.')))
      .sort()
  }
}

/** What a text says, however its author spells it. A person's file has neither ids nor the spelling of the service. */
export function saidBy(text: string): string {
  const plain = text.replace(/^---\n[\s\S]*?\n---\n/, '').replace(/^<!-- block=.*$/gm, '')
  return plain
    .replaceAll('__', '**')
    .replace(/^\* /gm, '- ')
    .replace(/\n\s*\n/g, '\n\n')
    .trim()
}
