// The import directions of the architecture: api -> shared <- workers; what derives from documents depends on the core,
// never the other way round.
const core = 'auth|knowledge-bases|documents|body|events|attachments|sharing'
const derived = 'search|changes|relations|concepts|summaries|localization'
const infrastructure = '^shared/[^/]+[.]ts$'

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'api-imports-no-workers', severity: 'error', from: { path: '^api/' }, to: { path: '^workers/' } },
    { name: 'workers-import-no-api', severity: 'error', from: { path: '^workers/' }, to: { path: '^api/' } },
    { name: 'shared-imports-neither', severity: 'error', from: { path: '^shared/' }, to: { path: '^(api|workers)/' } },
    { name: 'service-imports-no-tests', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
    {
      name: 'infrastructure-imports-no-noun',
      severity: 'error',
      from: { path: infrastructure },
      to: { path: `^shared/(${core}|${derived})/` },
    },
    {
      name: 'core-imports-nothing-derived',
      severity: 'error',
      from: { path: `^shared/(${core})/` },
      to: { path: `^shared/(${derived})/` },
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
