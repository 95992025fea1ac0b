import { type Static, Type } from 'typebox'
import { Me } from '../../../shared/auth/schema.ts'
import { oneLine } from '../results.ts'
import { tool } from '../tool.ts'

const { user, scopes, workspaces, expires_at } = Me.properties

/** Says for whom the agent works, and what it may do. */
export const whoami = tool({
  name: 'whoami',
  title: 'Who am I',
  description: 'The account, its workspaces and roles, and what the token allows.',
  input: Type.Object({}),
  output: Type.Object({ user, scopes, workspaces, expires_at }),
  readOnly: true,
  async run(_args, { door }) {
    const { data } = await door<Static<typeof Me>>({ operationId: 'getMe' })
    const structured = {
      user: data.user,
      scopes: data.scopes,
      workspaces: data.workspaces,
      expires_at: data.expires_at,
    }
    const untrusted = [
      `user: ${oneLine(data.user.name)} <${data.user.email}>`,
      ...data.workspaces.map(({ name, role, id }) => `workspace: ${oneLine(name)} (role ${role}, ${id})`),
    ].join('\n')
    return { structured, summary: `Scopes of the token: ${data.scopes.join(', ') || 'none'}.`, untrusted }
  },
})
