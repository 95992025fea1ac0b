import { pairFiles } from '../../../shared/cli/sync/pairs.ts'
import { planSync } from '../../../shared/cli/sync/plan.ts'
import type { PlanInput } from '../../../shared/cli/sync/sides.ts'
import { t } from '../../support/tap.ts'

const stat = { size: 1, mtimeMs: 1, ctimeMs: 1, ino: 1, seenAt: 1 }
const documentOf = (id: string) => ({ id, title: 'Zoo', tags: [], properties: {}, folder_id: null, version: `${id}:1` })

// The file Zoo.md of a document that was deleted in the service after the last sync, while the file was changed.
function changedWithoutDocument(input: Partial<PlanInput>): PlanInput {
  const file = { path: 'Zoo.md', hash: 'changed', documentId: 'doc_old', title: null, stat }
  const document = documentOf('doc_old')
  const entry = { id: 'doc_old', path: 'Zoo.md', hash: 'synced', stat, document, body: 'body', links: {}, headings: {} }
  return {
    entries: new Map([['doc_old', entry]]),
    knownFolders: new Map(),
    creating: new Map(),
    gone: new Map(),
    newId: () => 'doc_fresh',
    files: {
      files: new Map([['Zoo.md', file]]),
      isTaken: (path) => path === 'Zoo.md',
      isUnreadable: () => false,
      isDirectory: () => false,
    },
    documents: new Map(),
    headingsOf: () => new Map(),
    folders: new Map(),
    root: null,
    mayDelete: false,
    deleted: { files: 0, documents: 0 },
    ...input,
  }
}

t.test('a changed file whose document was deleted becomes one new document, also after a crash', async (t) => {
  const actionsOf = (input: Partial<PlanInput>) => {
    return planSync(changedWithoutDocument(input)).actions.map((action) => [action.type, 'id' in action && action.id])
  }
  t.strictSame(actionsOf({}), [
    ['create', 'doc_fresh'],
    ['forget', 'doc_old'],
  ])
  const creating = new Map([['Zoo.md', 'doc_new']])
  t.strictSame(
    actionsOf({ creating }),
    [
      ['create', 'doc_new'],
      ['forget', 'doc_old'],
    ],
    'killed before the new document existed',
  )
  t.strictSame(
    actionsOf({ creating, documents: new Map([['doc_new', documentOf('doc_new')]]) }),
    [
      ['update', 'doc_new'],
      ['forget', 'doc_old'],
    ],
    'killed before the file named the new document',
  )
})

t.test('a file that took the place of another keeps its document, and that of the other is deleted', (t) => {
  const entryOf = (id: string, path: string, hash: string) => {
    return { id, path, hash, stat, document: documentOf(id), body: 'body', links: {}, headings: {} }
  }
  const fileOf = (path: string, hash: string) => ({ path, hash, documentId: null, title: null, stat })
  const entries = new Map([entryOf('doc_1', '1.md', 'one'), entryOf('doc_2', '2.md', 'two')].map((e) => [e.id, e]))
  const pairsOf = (...files: ReturnType<typeof fileOf>[]) => {
    const found = { ...changedWithoutDocument({}).files, files: new Map(files.map((file) => [file.path, file])) }
    const { pairs, newFiles } = pairFiles({ ...changedWithoutDocument({ entries }), files: found })
    return [...pairs.map(({ id, file }) => `${id} ${file.path}`), ...newFiles.map(({ path }) => path)].sort()
  }
  t.strictSame(pairsOf(fileOf('2.md', 'one')), ['doc_1 2.md'], 'renamed over the other')
  t.strictSame(pairsOf(fileOf('1.md', 'two'), fileOf('2.md', 'one')), ['doc_1 2.md', 'doc_2 1.md'], 'swapped')
  t.strictSame(pairsOf(fileOf('1.md', 'one'), fileOf('2.md', 'one')), ['doc_1 1.md', 'doc_2 2.md'], 'copied')
  t.strictSame(pairsOf(fileOf('1.md', 'new'), fileOf('1-old.md', 'one')), ['1.md', 'doc_1 1-old.md'], 'rotated')
  t.end()
})
