import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { root } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { startTokenProxy } from '../../support/token-proxy.ts'
import { write } from '../../support/workers.ts'

// The official conformance tool plays a client against the real service. It cannot send a token, so a proxy in front of
// the service adds one. Pages of other sites are refused here; by default they may call the service, with a token.
const proxy = await startTokenProxy(t)
const service = await startTestService(t, { PUBLIC_ORIGIN: proxy.origin, CORS_ALLOWED_ORIGINS: proxy.origin })
const ada = await service.signUp()
await write(ada, 'A document that can be read.')
proxy.turnTo(ada)

// The scenarios of the tool that apply to this service, for each version of the protocol. They must pass.
const scenarios: Record<string, readonly string[]> = {
  '2025-06-18': ['server-initialize', 'ping', 'tools-list', 'resources-list'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    ...['server-stateless', 'tools-list', 'resources-list', 'sep-2164-resource-not-found', 'dns-rebinding-protection'],
    ...['caching', 'http-header-validation', 'server-sse-multiple-streams'],
  ],
}

// The scenarios that cannot apply, and why.
const inapplicable: Record<string, readonly RegExp[]> = {
  'needs a tool of the reference server, such as test_simple_text': [
    /^tools-call-/,
    /^input-required-result-/,
    /^elicitation-/,
    /^json-schema-2020-12$/,
    /^http-custom-header-server-validation$/,
  ],
  'needs a resource of the reference server, such as test://static-text': [/^resources-read-/, /^resources-templates-/],
  'needs prompts, completions or logging, none of which this service offers': [
    /^prompts-/,
    /^completion-complete$/,
    /^logging-set-level$/,
  ],
  'needs a session, which clients of 2025 do not have here': [
    /^server-session-lifecycle$/,
    /^server-sse-/,
    /^resources-(un)?subscribe$/,
  ],
}

// Checks within the scenarios that pass otherwise, for the same reasons.
const untestable = new Set([
  // The tools test_missing_capability, test_streaming_elicitation and test_logging_tool.
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  // Prompts.
  'sep-2549-prompts-list-caching-hints',
])

for (const [version, applicable] of Object.entries(scenarios)) {
  t.test(`clients of the protocol ${version} find what the specification promises`, async (t) => {
    const found = await conform(t, version)
    for (const name of applicable) {
      const checks = (found.get(name) ?? []).filter(({ id }) => !untestable.has(id))
      const failed = checks.filter(({ status }) => status === 'FAILURE')
      t.ok(
        checks.some(({ status }) => status === 'SUCCESS'),
        `${name} was run`,
      )
      t.same(
        failed.map(({ id, errorMessage }) => `${id}: ${errorMessage}`),
        [],
        name,
      )
    }
    const reasons = Object.values(inapplicable).flat()
    const unknown = [...found.keys()].filter(
      (name) => !applicable.includes(name) && !reasons.some((reason) => reason.test(name)),
    )
    t.same(unknown, [], 'every other scenario has a reason why it cannot apply')
  })
}

type Check = { id: string; status: string; errorMessage?: string }

/** Runs all scenarios for a version of the protocol. The result has the checks of each scenario. */
async function conform(t: { teardown: (end: () => void) => void }, version: string): Promise<Map<string, Check[]>> {
  const directory = mkdtempSync(join(tmpdir(), 'documents-conformance-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const tool = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const options = [
    ...['server', '--url', `${proxy.origin}/mcp`, '--suite', 'all', '--spec-version', version, '--output-dir'],
    ...[directory],
  ]
  // The exit code says that some scenario has failed, and the files say which.
  await new Promise((resolve) => execFile(process.execPath, [tool, ...options], { maxBuffer: 1e8 }, resolve))
  const files = globSync('server-*/checks.json', { cwd: directory })
  return new Map(files.map((file) => [scenarioOf(file), JSON.parse(readFileSync(join(directory, file), 'utf8'))]))
}

// The folder is named server-<scenario>-<time>.
function scenarioOf(file: string): string {
  return basename(dirname(file))
    .replace(/^server-/, '')
    .replace(/-\d{4}-\d\d-\d\dT.*$/, '')
}
