import type { PageData } from './page-data.ts'

/** What a page of the service answered to a script that may ask in the name of the user. */
export class ServiceRefusal extends Error {
  /** The status of the answer; 401 for a user who is signed out. */
  readonly status: number

  constructor(status: number) {
    super(`The service answered ${status}`)
    this.status = status
  }
}

/** What is sent to a path of the service. `signal` ends the waiting for an answer. */
type Question = { path: string; body: BodyInit; type?: string; signal?: AbortSignal }

/**
 * Sends something to the service in the name of the signed-in user, and returns the JSON of the answer. Throws a
 * `ServiceRefusal` when the service refuses, and another error when it is out of reach.
 */
export async function askService<Answer>(
  { csrfToken }: PageData,
  { path, body, type = 'application/json', signal }: Question,
): Promise<Answer> {
  const headers = { 'X-CSRF-Token': csrfToken, 'Content-Type': type }
  return answerOf(await fetch(path, { method: 'POST', headers, body, redirect: 'manual', signal }))
}

/** Reads the JSON at a path of the service in the name of the signed-in user. Throws as `askService` does. */
export async function readService<Answer>(path: string): Promise<Answer> {
  return answerOf(await fetch(path, { redirect: 'manual' }))
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  // A person who is signed out is sent to the sign-in page.
  if (response.type === 'opaqueredirect') throw new ServiceRefusal(401)
  if (!response.ok) throw new ServiceRefusal(response.status)
  return (await response.json()) as Answer
}
