import type { Tool } from './tool.ts'
import { browse } from './tools/browse.ts'
import { changes } from './tools/changes.ts'
import { concepts } from './tools/concepts.ts'
import { remove } from './tools/delete.ts'
import { edit } from './tools/edit.ts'
import { history } from './tools/history.ts'
import { job } from './tools/job.ts'
import { organise } from './tools/organise.ts'
import { read } from './tools/read.ts'
import { relations } from './tools/relations.ts'
import { restore } from './tools/restore.ts'
import { search } from './tools/search.ts'
import { summarise } from './tools/summarise.ts'
import { translate } from './tools/translate.ts'
import { whoami } from './tools/whoami.ts'
import { write } from './tools/write.ts'

/** The tools of the MCP endpoint, in the order in which clients list them. */
export const tools: readonly Tool[] = [
  search,
  read,
  browse,
  edit,
  write,
  organise,
  remove,
  restore,
  history,
  changes,
  relations,
  concepts,
  summarise,
  translate,
  job,
  whoami,
]
