import asyncHooks from 'node:async_hooks'
import crypto from 'node:crypto'
import { registerHooks, syncBuiltinESMExports } from 'node:module'

/*
 * Node loads this file first in each test process and its threads (.taprc). It keeps tap from three kinds of work,
 * which would take a quarter of the CPU of all tests. And it makes passwords cheap.
 */

// tap preloads two modules. `processinfo` notes for coverage what is loaded, here and in all processes that a test
// starts, and `mock` replaces modules. The tests use neither.
const preloads = /\/@tapjs\/(processinfo|mock)\/dist\/esm\/import\.mjs$/
registerHooks({
  resolve: (specifier, context, next) =>
    preloads.test(specifier) ? { url: 'data:text/javascript,', shortCircuit: true } : next(specifier, context),
})
delete process.env['NODE_OPTIONS']

// tap follows every promise to say in which test an error came up that nobody caught. Such an error still fails its
// file, with the place where it was thrown.
const { createHook } = asyncHooks
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })

// A password costs 0.3 s of CPU and 128 MiB on purpose, and tests make and check hundreds of passwords. Processes of
// the service that tests start keep the price, so a process and its test cannot check each other's hashes.
const { scrypt } = crypto
const cheap = (password: string, salt: Buffer, length: number, options: crypto.ScryptOptions, done: () => void) =>
  scrypt(password, salt, length, { ...options, N: Math.min(options.N ?? 0, 1024) }, done)
Object.assign(crypto, { scrypt: cheap })
syncBuiltinESMExports()
