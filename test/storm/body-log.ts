import type { BodyNode } from '../../shared/body/document.ts'
import type { BlockStep } from '../../shared/body/manifest.ts'
import { isBlockType } from '../../shared/body/nodes.ts'
import type { Site } from '../support/site.ts'

/** A body that was stored, with the process that stored it and the time of its commit in ms. */
export type LoggedBody = { bodySeq: number; version: string; lines: string[]; at: number; byApi: boolean }

/** The parameter with which PostgreSQL knows when a transaction was committed. */
export const keepCommitTimes = { track_commit_timestamp: 'on' }

/**
 * Makes PostgreSQL keep a copy of each body that is stored, and of each step from one manifest to the next, since the
 * service forgets most of them.
 */
export async function keepBodies(site: Site): Promise<void> {
  await site.ask(`
    CREATE SCHEMA storm;
    CREATE TABLE storm.bodies (
      document_id text, body_seq bigint, version text, body text, stored_at timestamptz, stored_by text);
    CREATE FUNCTION storm.keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO storm.bodies VALUES (NEW.document_id, NEW.body_seq, NEW.version, NEW.body, clock_timestamp(),
        current_setting('application_name'));
      RETURN NULL;
    END $$;
    CREATE TRIGGER storm AFTER INSERT ON document_bodies FOR EACH ROW EXECUTE FUNCTION storm.keep();
    CREATE TABLE storm.steps (document_id text, body_seq bigint, step jsonb);
    CREATE FUNCTION storm.keep_step() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO storm.steps VALUES (NEW.document_id, NEW.body_seq, NEW.step);
      RETURN NULL;
    END $$;
    CREATE TRIGGER storm AFTER INSERT ON document_manifests FOR EACH ROW EXECUTE FUNCTION storm.keep_step()`)
}

/** All bodies of a document in the order in which they were stored. */
export async function loggedBodies(site: Site, documentId: string): Promise<LoggedBody[]> {
  const rows = await site.ask(
    `SELECT body_seq::int, version, body, stored_by LIKE 'svc-api%' AS by_api,
       extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS at
     FROM storm.bodies WHERE document_id = $1 ORDER BY body_seq`,
    [documentId],
  )
  return rows.map(({ body_seq, version, body, at, by_api }) => ({
    bodySeq: body_seq,
    version,
    lines: body.split('\n'),
    at: Number(at),
    byApi: by_api,
  }))
}

/** The step to each body of a document, by the `body_seq` of the body. The first body has no step. */
export async function loggedSteps(site: Site, documentId: string): Promise<Map<number, BlockStep[]>> {
  const rows = await site.ask(
    'SELECT body_seq::int, step FROM storm.steps WHERE document_id = $1 AND step IS NOT NULL',
    [documentId],
  )
  return new Map(rows.map(({ body_seq, step }) => [body_seq, step]))
}

/** The bodies that were the current body of their document at some time between `from` and `to`. */
export function currentWithin(bodies: readonly LoggedBody[], { from, to }: { from: number; to: number }): LoggedBody[] {
  // PostgreSQL notes the time of a commit a moment before others can see the commit.
  const moment = 250
  return bodies.filter(
    ({ at }, index) => at <= to && (bodies[index + 1]?.at ?? Number.POSITIVE_INFINITY) + moment >= from,
  )
}

/** The ids of the blocks of a body in which a text stands, of one place of it, innermost first. */
export function homesOf(lines: readonly string[], text: string): string[] {
  const line = lines.find((one) => one.includes(text))
  return line === undefined ? [] : chainTo(JSON.parse(line) as BodyNode, text)
}

function chainTo(node: BodyNode, text: string): string[] {
  const child = (node.content ?? []).find((one) => JSON.stringify(one).includes(text))
  const own = typeof node.attrs?.['id'] === 'string' && isBlockType(node.type) ? [node.attrs['id']] : []
  return [...(child === undefined ? [] : chainTo(child, text)), ...own]
}
