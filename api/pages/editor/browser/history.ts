import { isChangeOrigin } from '@tiptap/extension-collaboration'
import { history, isHistoryTransaction, redoDepth, redoNoScroll, undoDepth, undoNoScroll } from '@tiptap/pm/history'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { type EditorState, Plugin, PluginKey } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import { keepWords } from './kept-words.ts'

/*
 * Undo takes back the steps of this editor, mapped through everything that others have changed since. What others have
 * written into the places of these steps is merged by the documents before and after the steps.
 */

/** The document before and after a change that undo or redo can take back. */
type Event = { before: DocumentNode; after: DocumentNode }
/** The events of each direction by their depth. */
type Events = { undo: Event[]; redo: Event[] }

const key = new PluginKey<Events>('events')
const directions = {
  undo: { take: undoNoScroll, depth: undoDepth, back: 'redo' },
  redo: { take: redoNoScroll, depth: redoDepth, back: 'undo' },
} as const

/** Plugins that remember what this editor has done. */
export const historyPlugins = (): Plugin[] => [history({ depth: Number.POSITIVE_INFINITY }), eventPlugin()]

/** Whether there is something to undo or redo. */
export function canTakeBack(state: EditorState, direction: keyof Events): boolean {
  return directions[direction].depth(state) > 0
}

/** Undoes or redoes the last event, and keeps what others have written since. */
export function takeBack(view: EditorView, direction: keyof Events): void {
  const { take, depth, back } = directions[direction]
  const { doc: now, selection } = view.state
  const event = key.getState(view.state)?.[direction][depth(view.state) - 1]
  take(view.state, (change) => {
    // The caret stays where the user has put it.
    view.dispatch(change.setSelection(selection.map(change.doc, change.mapping)))
    const rest = view.state.tr.setMeta('addToHistory', false).setMeta(key, { direction: back, before: now })
    if (event) keepWords(rest, { base: event.after, target: event.before, now, mapping: change.mapping })
    view.dispatch(rest)
  })
}

function eventPlugin(): Plugin<Events> {
  return new Plugin<Events>({
    key,
    state: {
      init: () => ({ undo: [], redo: [] }),
      apply(tr, events, before, after) {
        const taken: { direction: keyof Events; before: DocumentNode } | undefined = tr.getMeta(key)
        if (taken)
          return withEvent(events, taken.direction, { after, event: { before: taken.before, after: after.doc } })
        const isOwn = tr.docChanged && !isChangeOrigin(tr) && !isHistoryTransaction(tr)
        if (!isOwn) return events
        const isNew = undoDepth(after) > undoDepth(before)
        const begun = isNew ? before.doc : (events.undo[undoDepth(after) - 1]?.before ?? before.doc)
        return withEvent(events, 'undo', { after, event: { before: begun, after: after.doc } })
      },
    },
  })
}

function withEvent(
  events: Events,
  direction: keyof Events,
  { after, event }: { after: EditorState; event: Event },
): Events {
  const depth = directions[direction].depth(after)
  return { ...events, [direction]: [...events[direction].slice(0, depth - 1), event] }
}
