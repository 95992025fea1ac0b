import { Extension, type RawCommands } from '@tiptap/core'
import { Fragment } from '@tiptap/pm/model'
import { type EditorState, TextSelection, type Transaction } from '@tiptap/pm/state'

// The kinds of lists, and what is in them.
const kinds = { bulletList: 'listItem', orderedList: 'listItem', taskList: 'taskItem' } as const
type Kind = keyof typeof kinds

/**
 * Turns a list into a list of another kind. The list and its items keep their ids. The items stay in one list, also
 * between items that are done and items that cannot be done.
 */
export const Lists = Extension.create({
  name: 'lists',
  // What stands last replaces the commands of Tiptap's lists.
  priority: 50,
  addCommands: (): Partial<RawCommands> => ({
    toggleBulletList: toggle('bulletList'),
    toggleOrderedList: toggle('orderedList'),
    toggleTaskList: toggle('taskList'),
  }),
})

function toggle(kind: Kind): RawCommands['toggleBulletList'] {
  return () =>
    ({ state, tr, commands, dispatch }) => {
      if (!turn(state, { tr, kind })) return commands.toggleList(kind, kinds[kind])
      dispatch?.(tr)
      return true
    }
}

// Puts a list with other items in the place of the list around the selection. Returns false when the stock command can
// do it, or when there is no such list.
function turn({ schema, selection }: EditorState, { tr, kind }: { tr: Transaction; kind: Kind }): boolean {
  const { $from, $to, anchor, head } = selection
  let depth = $from.sharedDepth($to.pos)
  while (depth > 0 && !Object.hasOwn(kinds, $from.node(depth).type.name)) depth -= 1
  const list = $from.node(depth)
  const [listType, itemType] = [schema.nodes[kind], schema.nodes[kinds[kind]]]
  if (depth === 0 || !listType || !itemType || list.firstChild?.type === itemType) return false
  if (!list.content.content.every(({ content }) => itemType.validContent(content))) return false
  const own = kind === 'taskList' ? { checked: false } : {}
  const items = list.content.content.map(({ attrs, content }) => itemType.create({ ...own, id: attrs['id'] }, content))
  const turned = listType.create({ id: list.attrs['id'] }, Fragment.fromArray(items))
  tr.replaceWith($from.before(depth), $from.after(depth), turned)
  if (selection instanceof TextSelection) tr.setSelection(TextSelection.create(tr.doc, anchor, head))
  return true
}
