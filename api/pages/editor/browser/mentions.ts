import { Extension } from '@tiptap/core'
import { PluginKey } from '@tiptap/pm/state'
import { Suggestion } from '@tiptap/suggestion'
import { User } from 'lucide'
import type { Sign } from './icons.ts'
import type { PageData } from './page-data.ts'
import { readService } from './service.ts'
import { MenuView } from './slash-menu.ts'

type Member = { id: string; name: string; sign: Sign }

// The pause in typing, in milliseconds, after which the service is asked for names.
const pauseMs = 150

/** The menu of the members of the workspace, which `@` opens at the start of a word. What is typed next narrows it. */
export const Mentions = Extension.create<{ page: PageData }>({
  name: 'mentions',
  addProseMirrorPlugins() {
    const { documentId } = this.options.page
    return [
      Suggestion<Member, Member>({
        editor: this.editor,
        pluginKey: new PluginKey('mentions'),
        char: '@',
        debounce: pauseMs,
        items: ({ query }) => membersNamed(documentId, query),
        allow: ({ editor, state, range }) => editor.isEditable && !state.doc.resolve(range.from).parent.type.spec.code,
        command({ editor, range, props: { id, name } }) {
          const mention = { type: 'mention', attrs: { id, label: name } }
          editor
            .chain()
            .focus()
            .insertContentAt(range, [mention, { type: 'text', text: ' ' }])
            .run()
        },
        render: () => new MenuView<Member>({ id: 'mention-menu', label: 'People' }),
      }),
    ]
  },
})

// While the service is out of reach, nobody is offered.
async function membersNamed(documentId: string, name: string): Promise<Member[]> {
  try {
    const path = `/d/${documentId}/members?name=${encodeURIComponent(name)}`
    const { members } = await readService<{ members: { id: string; name: string }[] }>(path)
    return members.map((member) => ({ ...member, sign: User }))
  } catch {
    return []
  }
}
