import { defaultWorkspace, presentCaller } from '../../shared/auth/caller.ts'
import { Me } from '../../shared/auth/schema.ts'
import { collaborationUrl } from '../../shared/config/collaboration-url.ts'
import { workspaceQuota } from '../../shared/quotas/quotas.ts'
import { WorkspaceQuota } from '../../shared/quotas/schema.ts'
import { type Route, route } from '../http/route.ts'

/** The routes that describe the caller and the quota of the default workspace. */
export const meRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/me',
    operationId: 'getMe',
    tag: 'Auth and identity',
    summary: 'Who calls, with what rights',
    scopes: [],
    success: { status: 200, description: 'The user and the token', data: Me },
    errors: [],
    handle: async ({ caller, service }) => ({ data: presentCaller(caller, collaborationUrl(service.config)) }),
  }),
  route({
    method: 'GET',
    path: '/me/quota',
    operationId: 'getQuota',
    tag: 'Auth and identity',
    summary: 'Limits and usage of the default workspace',
    description: 'The default workspace is that of the oldest membership; knowledge bases are created there.',
    scopes: [],
    success: { status: 200, description: 'Limits and usage', data: WorkspaceQuota },
    errors: ['workspace_not_found'],
    handle: async ({ caller, db, service }) => ({
      data: await workspaceQuota({ db, config: service.config }, defaultWorkspace(caller).workspace_id),
    }),
  }),
]
