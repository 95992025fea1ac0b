// The import directions of the architecture: api -> shared <- workers. The rooms of shared, lowest first: a room
// imports only rooms that stand before it. A folder of shared that is missing here fails
// test/repository/architecture.test.ts.
const rooms = [
  // Infrastructure, which knows no noun.
  ...['config', 'schema', 'errors', 'process', 'network', 'models', 'locales', 'database', 'turns', 'computations'],
  ...['events', 'jobs', 'quotas', 'requests', 'migrations', 'health', 'start'],
  // The core: what people write, and the log of who wrote it.
  ...['audit', 'auth', 'knowledge-bases', 'documents', 'body', 'differences'],
  ...['attachments', 'sharing', 'structure', 'export'],
  // What is derived from the core.
  ...['changes', 'relations', 'concepts', 'localization', 'search', 'summaries'],
  // What was deleted, of all nouns.
  'trash',
  // What is read or copied from several nouns at once.
  ...['reading', 'duplicates'],
  // What follows from a write or a deletion, in all nouns.
  'consequences',
  // A client of the interface, no part of the service, and what is built on it.
  ...['client', 'import', 'cli'],
  // Makes the package for other programs.
  'packaging',
]

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'api-imports-no-workers', severity: 'error', from: { path: '^api/' }, to: { path: '^workers/' } },
    { name: 'workers-import-no-api', severity: 'error', from: { path: '^workers/' }, to: { path: '^api/' } },
    { name: 'shared-imports-neither', severity: 'error', from: { path: '^shared/' }, to: { path: '^(api|workers)/' } },
    { name: 'service-imports-no-tests', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
    // Also holds for folders inside of rooms.
    {
      name: 'no-folder-cycles',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(api|workers|shared)' },
      to: { circular: true },
    },
    ...rooms.slice(0, -1).map((room, index) => ({
      name: `${room}-imports-no-room-above`,
      severity: 'error',
      from: { path: `^shared/${room}/` },
      to: { path: `^shared/(${rooms.slice(index + 1).join('|')})/` },
    })),
    // Programs elsewhere get this room alone, in browsers too.
    {
      name: 'client-imports-two-packages-alone',
      severity: 'error',
      from: { path: '^shared/client/' },
      to: { pathNot: '^(shared/client/|node_modules/(openapi-fetch|eventsource-parser)/)' },
    },
    // The command line is shipped too, and must not carry the service with it. It shares rules for names and front
    // matter, which are functions of texts alone.
    {
      name: 'cli-imports-no-service',
      severity: 'error',
      from: { path: '^shared/cli/' },
      to: {
        path: '^(api|workers|shared)/',
        pathNot: '^shared/((cli|client|import|schema)/|documents/(front-matter|metadata)|export/names)',
      },
    },
    {
      name: 'imports-exist',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'service-needs-no-development-package',
      severity: 'error',
      from: { path: '^(api|workers|shared)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
