import { Doc } from 'yjs'
import { openLocalCopy } from './local-copy.ts'
import { readPageData } from './page-data.ts'
import { unsavedText } from './refused-changes.ts'
import { StatusLine } from './status-line.ts'
import { noteUnsent } from './unsent-cookie.ts'

/**
 * Shows text of a document that was typed without a connection, which this browser alone has. Without such text, the
 * copy of this browser goes.
 */
export async function showUnsent(place: HTMLElement): Promise<void> {
  const page = readPageData(place)
  const live = new Doc()
  const copy = await openLocalCopy(live, page)
  if (copy === null) return
  const remove = () => {
    void copy.remove()
    noteUnsent(page, false)
  }
  const text = unsavedText(live, copy.unsaved)
  if (text === '') return remove()
  const line = new StatusLine()
  place.append(line.element)
  line.warn('This text of yours was not saved. Only this browser has it:', { quote: text, onDismiss: remove })
}
