import Type from 'typebox'
import { keptTables, lostTables } from '../../shared/consequences/deletion.ts'
import { openDatabase, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { t } from '../support/tap.ts'

/*
 * The trash keeps rows of the tables that shared/consequences/deletion.ts lists. These tests hold the lists against the
 * schema of the database, so that a new table cannot be forgotten: its rows would be lost with every deletion.
 */

// Tables that name documents, folders or knowledge bases and whose rows a deletion leaves, or changes by a trigger.
const notDeleted: Record<string, string> = {
  document_counts: 'triggers count the documents that exist',
  document_titles: 'triggers keep it in step with documents',
  document_filters: 'triggers keep it in step with documents',
  document_sets: 'a set stays while a member is in the trash',
  translation_audit: 'goes with its set',
  events: 'the log of what happened',
  audit_log: 'the log of who wrote what',
  summary_jobs: 'jobs end as obsolete',
  translation_jobs: 'jobs end as obsolete',
  public_share_directory: 'an address never comes back',
  trash_entries: 'the trash itself',
  trash_rows: 'the trash itself',
}

// Kept tables that lose their rows by a trigger and not by a foreign key.
const keptByTrigger = ['document_order']

const { url, drop } = await createTestDatabase()
const database = await openDatabase({ url })
t.teardown(async () => {
  await database.end()
  await drop()
})
const TableRow = row(Type.Object({ name: Type.String() }))
const kept = keptTables.map(({ table }) => table)

t.test('no table that loses rows with a document, folder or knowledge base is forgotten', async (t) => {
  const deleted = await database.anyFirst(sql.type(TableRow)`
    WITH RECURSIVE deleted AS (
      SELECT unnest(ARRAY['documents', 'folders', 'knowledge_bases']::regclass[]) AS id
      UNION
      SELECT c.conrelid FROM pg_constraint c JOIN deleted d ON c.confrelid = d.id WHERE c.contype = 'f'
    )
    SELECT id::text AS name FROM deleted ORDER BY 1`)
  t.strictSame([...deleted, ...keptByTrigger].sort(), [...kept, ...Object.keys(lostTables)].sort())
})

t.test('no table that names a document, folder or knowledge base without a foreign key is forgotten', async (t) => {
  const naming = await database.anyFirst(sql.type(TableRow)`
    SELECT DISTINCT table_name::text AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name ~ '(^|_)(document|document_set|folder|knowledge_base)_id$'`)
  const listed = new Set([...kept, ...Object.keys(lostTables), ...Object.keys(notDeleted)])
  t.strictSame(
    naming.filter((name) => !listed.has(name)),
    [],
  )
  t.strictSame(
    Object.keys(notDeleted).filter((name) => !naming.includes(name)),
    [],
    'and the list names no table that is gone',
  )
})

t.test('a restored row finds the rows to which it refers', async (t) => {
  const References = row(Type.Object({ referring: Type.String(), referred: Type.String() }))
  const references = await database.any(sql.type(References)`
    SELECT DISTINCT conrelid::regclass::text AS referring, confrelid::regclass::text AS referred FROM pg_constraint
    WHERE contype = 'f' AND conrelid <> confrelid`)
  const wrong = references.filter(({ referring, referred }) => {
    return kept.includes(referring) && kept.indexOf(referred) > kept.indexOf(referring)
  })
  t.strictSame(wrong, [])
  const immediate = await database.anyFirst(sql.type(TableRow)`
    SELECT conname::text AS name FROM pg_constraint
    WHERE contype = 'f' AND conrelid = confrelid AND NOT condeferrable
      AND conrelid::regclass::text = ANY(${sql.array(kept, 'text')})`)
  t.strictSame(immediate, [], 'rows that refer to rows of their own table come in several slices')
})
