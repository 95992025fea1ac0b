import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { findAccessToken, insertAccessToken } from '../../shared/auth/oauth/access-tokens.ts'
import {
  type ArtifactKind,
  endInteraction,
  findInteraction,
  lockArtifact,
  secondsUntilRefresh,
  storeArtifact,
  useArtifact,
} from '../../shared/auth/oauth/artifacts.ts'
import { findClient, insertClient } from '../../shared/auth/oauth/clients.ts'
import { extendGrant, findGrant, revokeGrant } from '../../shared/auth/oauth/grants.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Queryable } from '../../shared/database/database.ts'
import { tooManyCalls } from '../http/throttles.ts'

/**
 * The settings that storage needs, the pool, and the connection for the current request. The connection is the
 * transaction of an exchange, which begins when it is asked for, or the pool.
 */
export type Storage = {
  config: Pick<Config, 'TOKEN_PEPPER' | 'OAUTH_ACCESS_TOKEN_TTL_SECONDS'>
  pool: Queryable
  database: () => Promise<Queryable>
}

/**
 * The storage of oidc-provider in our tables. The library calls it with the name of a model. Sessions of the library
 * and the like are not stored, since the sessions of our pages say who a person is.
 */
export function storageFor(storage: Storage): (model: string) => Adapter {
  const models: Record<string, Partial<Adapter>> = {
    Client: clients(storage),
    Interaction: interactions(storage),
    Grant: grants(storage),
    AuthorizationCode: codes(storage, 'AuthorizationCode'),
    RefreshToken: codes(storage, 'RefreshToken'),
    AccessToken: accessTokens(storage),
  }
  return (model) => ({ ...nothing, ...models[model] })
}

const nothing: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
}

// Programs never begin the transaction of an exchange. A program that is unknown here may have a metadata document, and
// a connection must not wait for the answer of a stranger.
function clients({ pool }: Storage): Partial<Adapter> {
  return {
    upsert: (id, metadata) => insertClient(pool, { id, metadata }),
    find: async (id) => ((await findClient(pool, id)) as AdapterPayload | null) ?? undefined,
  }
}

// An authorization request that waits for the decision of its person. Its id is a secret of the browser, so it is not
// stored, nor the address that has the id.
function interactions({ database, config }: Storage): Partial<Adapter> {
  return {
    async upsert(id, { jti: _id, returnTo: _address, ...payload }, seconds = 0) {
      await storeArtifact(
        { db: await database(), config },
        { kind: 'Interaction', secret: id, grantId: null, payload, seconds },
      )
    },
    async find(id) {
      const found = await findInteraction({ db: await database(), config }, id)
      return found === null ? undefined : { ...found, jti: id }
    },
    async destroy(id) {
      const isMine = await endInteraction({ db: await database(), config }, id)
      if (!isMine) throw new errors.SessionNotFound('the request was answered already')
    },
  }
}

// Codes and refresh tokens. They end with their grant, so a revocation changes nothing here.
function codes({ database, config }: Storage, kind: Exclude<ArtifactKind, 'Interaction'>): Partial<Adapter> {
  return {
    async upsert(id, { jti: _id, ...payload }, seconds = 0) {
      const { grantId = null } = payload
      const db = await database()
      await storeArtifact({ db, config }, { kind, secret: id, grantId, payload, seconds })
      if (kind === 'RefreshToken' && grantId !== null)
        await extendGrant(db, { id: grantId, expiresAt: expiry(payload) })
    },
    async find(id) {
      const found = await lockArtifact({ db: await database(), config }, { kind, secret: id })
      if (found === null) return undefined
      const exp = Math.floor(found.expires_at / 1000)
      return { ...found.payload, jti: id, exp, ...(found.is_used && { consumed: true }) }
    },
    async consume(id) {
      const context = { db: await database(), config }
      if (kind === 'RefreshToken') await boundRefreshes(context, id)
      await useArtifact(context, { kind, secret: id })
    },
  }
}

// Refuses with 429 when the program has refreshed too often. The bound leaves a program four access tokens in the life
// of one, and 60 in an hour.
async function boundRefreshes(context: { db: Queryable; config: Storage['config'] }, secret: string): Promise<void> {
  const mostAnHour = Math.max(60, Math.ceil((4 * 3600) / context.config.OAUTH_ACCESS_TOKEN_TTL_SECONDS))
  const seconds = await secondsUntilRefresh(context, { secret, mostAnHour })
  if (seconds !== null) throw tooManyCalls(seconds)
}

// Access tokens are tokens of our own form, of which only a hash is stored.
function accessTokens({ database, config }: Storage): Partial<Adapter> {
  return {
    async upsert(bearer, payload) {
      const { grantId = '', scope = '', aud } = payload
      // A person may have approved nothing of what the request asks for now.
      if (scope === '' || typeof aud !== 'string') throw new errors.InvalidScope('no scope was granted', scope)
      const db = await database()
      const expiresAt = expiry(payload)
      await insertAccessToken({ db, config }, { bearer, grantId, scopes: scope.split(' '), resource: aud, expiresAt })
      await extendGrant(db, { id: grantId, expiresAt })
    },
    async find(bearer) {
      const found = await findAccessToken({ db: await database(), config }, bearer)
      if (found === null || found.revoked_at !== null) return undefined
      return {
        kind: 'AccessToken',
        jti: bearer,
        format: 'opaque',
        grantId: found.grant_id,
        clientId: found.client_id,
        accountId: found.user_id,
        exp: Math.floor(found.expires_at / 1000),
      }
    },
  }
}

// What people approved. Revoking a grant revokes all that followed from it.
function grants({ database }: Storage): Partial<Adapter> {
  return {
    async find(id) {
      const found = await findGrant(await database(), id)
      if (found === null) return undefined
      return {
        kind: 'Grant',
        jti: id,
        clientId: found.client_id,
        accountId: found.user_id,
        resources: { [found.resource]: found.scopes.join(' ') },
        iat: Math.floor(found.created_at / 1000),
        exp: Math.floor(found.expires_at / 1000),
      } as AdapterPayload
    },
    destroy: async (id) => revokeGrant(await database(), id),
  }
}

function expiry({ exp }: AdapterPayload): number {
  if (exp === undefined) throw new Error('a token without an expiry')
  return exp
}
