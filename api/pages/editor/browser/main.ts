import { Doc } from 'yjs'
import { Connection } from './connection.ts'
import { createEditor } from './editor.ts'
import { openLocalCopy } from './local-copy.ts'
import { createOutline, showNamedBlock } from './outline.ts'
import { readPageData } from './page-data.ts'
import { createPeopleLine } from './people.ts'
import { openSlashMenu } from './slash-menu.ts'
import { StatusLine } from './status-line.ts'
import { createToolbar } from './toolbar.ts'

/*
 * The editor of a document. The page shows the document as HTML. The editor takes its place as soon as the live
 * document is there, from the service or from the copy that this browser has kept.
 */

const place = document.querySelector<HTMLElement>('#editor')
if (place !== null) await start(place)

async function start(place: HTMLElement): Promise<void> {
  const page = readPageData(place)
  const live = new Doc()
  const line = new StatusLine()
  place.before(line.element)
  const copy = await openLocalCopy(live, page)
  const connection = new Connection({ live, page, copy, line })
  await connection.hasContent()
  place.replaceChildren()
  const { provider, writing } = connection
  const warn = (words: string) => line.warn(words)
  const editor = createEditor({ element: place, provider, page, editable: writing, warn })
  line.element.append(
    createPeopleLine(provider),
    createToolbar(editor, () => openSlashMenu(editor)),
  )
  place.closest('article')?.append(createOutline(editor))
  showNamedBlock(editor)
  connection.onWriting = (now) => void editor.setEditable(now)
}
