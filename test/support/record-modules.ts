import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { root } from './processes.ts'

/*
 * A module for `node --import`. It writes the URL of every module that the process loads, a line each, into a file
 * below the folder RECORDED_MODULES. The file is named after the program, such as `api_main.ts`.
 */

const directory = process.env['RECORDED_MODULES']
const program = relative(root, process.argv[1] ?? '').replaceAll('/', '_')

if (directory !== undefined) {
  registerHooks({
    load(url, context, next) {
      appendFileSync(join(directory, program), `${url}\n`)
      return next(url, context)
    },
  })
}
