import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

/*
 * Loaded before tap, see .taprc. To tell in which test an error came up that nobody caught, tap follows every promise
 * through async hooks, which takes a tenth of the time of all tests. Without it such an error still fails its file.
 */
const { createHook } = asyncHooks
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
syncBuiltinESMExports()
