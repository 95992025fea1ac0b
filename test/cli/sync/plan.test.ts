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
