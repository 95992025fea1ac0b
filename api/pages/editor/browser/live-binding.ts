import type { RawCommands } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { closeHistory } from '@tiptap/pm/history'
import { type Node as DocumentNode, type Fragment, Slice } from '@tiptap/pm/model'
import { type Plugin, TextSelection, type Transaction } from '@tiptap/pm/state'
import { Mapping, type Step } from '@tiptap/pm/transform'
import type { EditorView } from '@tiptap/pm/view'
import { type ProsemirrorBinding, ySyncPluginKey, yUndoPluginKey } from '@tiptap/y-tiptap'
import { stepsTo } from './changed-steps.ts'
import { canTakeBack, historyPlugins, takeBack } from './history.ts'
import { keepWords } from './kept-words.ts'

/**
 * Tiptap's Collaboration, which binds the editor to the live document, without work that grows with the document. The
 * binding compares the whole document after each event, and for each change by others it makes all nodes anew and
 * replaces the whole document. Here, only the nodes that have changed are made and replaced. So carets, colours and
 * other decorations stay where they are while others write.
 *
 * The undo of Yjs deletes the elements that a change has made, with all that others have written into them. So the undo
 * of ProseMirror takes its place.
 */
export const LiveBinding = Collaboration.extend({
  addProseMirrorPlugins() {
    const plugins = (this.parent?.() ?? []).filter(({ spec }) => spec.key !== yUndoPluginKey)
    for (const plugin of plugins) if (plugin.spec.key === ySyncPluginKey) bindSparingly(plugin)
    return [...plugins, ...historyPlugins()]
  },
  addCommands() {
    return { undo: command('undo'), redo: command('redo') }
  },
})

function command(direction: 'undo' | 'redo'): RawCommands['undo'] {
  return () =>
    ({ view, tr, dispatch }) => {
      tr.setMeta('preventDispatch', true)
      if (!canTakeBack(view.state, direction)) return false
      if (dispatch) asOne(view, () => takeBack(view, direction))
      return true
    }
}

// What the types of the binding do not say.
type Binding = Omit<ProsemirrorBinding, 'beforeTransactionSelection'> & { beforeTransactionSelection: unknown }

// While the binding pauses, the editor does not show what others write, and others do not see what is written here.
// `since` is the document when the pause began, and `others` is what others have made of it.
type Pause = { since: DocumentNode | null; others: Fragment | null; sync: () => void }

const pauses = new WeakMap<EditorView, Pause>()

// The milliseconds without a change for which a composition makes others wait.
const maxCompositionMs = 10_000

function bindSparingly(plugin: Plugin): void {
  const { view: open } = plugin.spec
  plugin.spec.view = (view) => {
    const stock = open?.call(plugin, view)
    const { binding } = ySyncPluginKey.getState(view.state) as { binding: Binding }
    const sync = () => {
      // The binding notes where the selection was, and again where the selection is. Only the second is used here.
      binding.beforeTransactionSelection ??= {}
      stock?.update?.(view, view.state)
    }
    const pause: Pause = { since: null, others: null, sync }
    pauses.set(view, pause)
    // The binding forgets the nodes that have changed before it forgets all nodes.
    binding.mapping.clear = () => {}
    Object.defineProperty(binding, '_tr', { get: () => changeByOthers(view, { binding, pause }) })
    let timer: ReturnType<typeof setTimeout> | undefined
    const resumeAfter = (milliseconds: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => pause.others && resume(view, pause), milliseconds)
    }
    // The letters of the composition come a moment after its end.
    const end = () => resumeAfter(50)
    view.dom.addEventListener('compositionend', end)
    return {
      ...stock,
      update() {
        if (pause.others) resumeAfter(maxCompositionMs)
        if (pause.since === null && binding.mapping.get(binding.type) !== view.state.doc) sync()
      },
      destroy() {
        clearTimeout(timer)
        view.dom.removeEventListener('compositionend', end)
        stock?.destroy?.()
      },
    }
  }
}

// Makes one change of the live document out of several changes of the editor.
function asOne(view: EditorView, run: () => void): void {
  const pause = pauses.get(view)
  const isPaused = pause === undefined || pause.since !== null
  if (!isPaused) pause.since = view.state.doc
  try {
    run()
  } finally {
    if (!isPaused) pause.since = null
  }
  if (!isPaused) pause.sync()
}

// A transaction that replaces only what differs, when the binding replaces the whole document. A change of the block in
// which somebody composes a letter would end the composition, so it waits.
function changeByOthers(view: EditorView, { binding, pause }: { binding: Binding; pause: Pause }): Transaction {
  const change = view.state.tr.setMeta('addToHistory', false)
  const replace = change.replace.bind(change)
  change.replace = (from, to, slice = Slice.empty) => {
    const steps = pause.since ? [] : stepsTo(slice.content, change.doc)
    const isNear = pause.since === null && (steps === null || touchSelection(steps, view))
    if (pause.since || (isNear && view.composing)) {
      pause.since ??= change.doc
      pause.others = slice.content
      // The selection stays where it is.
      binding.beforeTransactionSelection = null
      return change
    }
    // What is typed before and after a change of the same text is not undone at once.
    if (isNear) closeHistory(change)
    for (const step of steps ?? []) change.step(step)
    return steps === null ? replace(from, to, slice) : change
  }
  return change
}

function touchSelection(steps: readonly Step[], { state }: EditorView): boolean {
  const { $from, $to } = state.selection
  const [start, end] = [$from.start(Math.min(1, $from.depth)) - 1, $to.end(Math.min(1, $to.depth)) + 1]
  return steps.some((step) => {
    let isNear = false
    step.getMap().forEach((from, to) => {
      isNear ||= from <= end && to >= start
    })
    return isNear
  })
}

function resume(view: EditorView, pause: Pause): void {
  const { since, others } = pause
  pause.since = null
  pause.others = null
  if (since === null || others === null) return
  const { doc: now, selection } = view.state
  const target = since.copy(others)
  const change =
    changeFrom(view, { steps: stepsTo(others, since), written: stepsTo(now.content, since) }) ??
    changeFrom(view, { steps: stepsTo(others, now), written: [] }) ??
    view.state.tr.replaceWith(0, now.content.size, others)
  const [anchor, head] = [selection.anchor, selection.head].map((place) => change.mapping.map(place, -1))
  change.setSelection(TextSelection.between(change.doc.resolve(anchor ?? 0), change.doc.resolve(head ?? 0)))
  keepWords(change, { base: since, target, now, mapping: new Mapping(change.mapping.maps) })
  view.dispatch(change.setMeta('addToHistory', false).setMeta(ySyncPluginKey, { isChangeOrigin: true }))
  pause.sync()
}

// The steps of others, behind what was written here; null when they do not fit any more.
function changeFrom(
  { state }: EditorView,
  steps: { steps: Step[] | null; written: Step[] | null },
): Transaction | null {
  if (!steps.steps || !steps.written) return null
  const mapping = new Mapping(steps.written.map((step) => step.getMap()))
  const { tr } = state
  const isDone = steps.steps.every((step) => {
    const mapped = step.map(mapping)
    return mapped !== null && !tr.maybeStep(mapped).failed
  })
  return isDone ? tr : null
}
