import { Doc } from 'yjs'
import { Connection } from './connection.ts'
import { createEditor } from './editor.ts'
import { createFindBar } from './find-bar.ts'
import { openLocalCopy } from './local-copy.ts'
import { createOutline, showNamedBlocks } from './outline.ts'
import { readPageData } from './page-data.ts'
import { createPeopleLine } from './people.ts'
import { openSlashMenu } from './slash-menu.ts'
import { StatusLine, type Warn } from './status-line.ts'
import { readStoredState } from './stored-state.ts'
import { editTitle } from './title.ts'
import { createToolbar } from './toolbar.ts'
import { copyWholeDocument } from './whole-copy.ts'

/*
 * The editor of a document. The page shows the document as HTML. The editor takes its place as soon as the live
 * document is there, from the service or from the copy that this browser has kept. The script runs while the browser
 * still reads that HTML, which may be long.
 */

const place = document.querySelector<HTMLElement>('#editor')
if (place !== null) await start(place)

async function start(place: HTMLElement): Promise<void> {
  const page = readPageData(place)
  const live = new Doc()
  const line = new StatusLine()
  place.before(line.element)
  const copy = await openLocalCopy(live, page)
  if (live.getXmlFragment('default').length === 0) await readStoredState(live, page)
  const connection = new Connection({ live, page, copy, line })
  const late = setTimeout(showAllText, patienceMs)
  await connection.hasContent()
  clearTimeout(late)
  const writing = place.closest('.writing')
  writing?.classList.add('live')
  writing?.querySelector('.text')?.remove()
  const { provider } = connection
  const warn: Warn = (words, options) => line.warn(words, options)
  const editor = createEditor({ element: place, provider, page, editable: connection.writing, warn })
  const find = createFindBar(editor)
  const toolbar = createToolbar(editor, { openMenu: () => openSlashMenu(editor), openFind: find.open })
  line.element.append(createPeopleLine(provider), toolbar, find.element)
  place.closest('article')?.append(createOutline(editor))
  const heading = document.querySelector<HTMLElement>('h1.title')
  const title = heading && editTitle(heading, { page, warn, onDone: () => editor.commands.focus('start') })
  title?.setEditable(connection.writing)
  connection.onWriting = (now) => {
    editor.setEditable(now)
    title?.setEditable(now)
  }
  showNamedBlocks(editor)
  copyWholeDocument(editor.view)
}

// The milliseconds for which the user sees only the beginning of a long document while the editor waits for it.
const patienceMs = 5000

// Shows what the page has for browsers without scripts. The service has sanitised that text.
function showAllText(): void {
  const rest = document.querySelector('.text noscript')
  const template = document.createElement('template')
  template.innerHTML = rest?.textContent ?? ''
  rest?.replaceWith(template.content)
}
