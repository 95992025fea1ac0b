import { exchangeCode, poll, requestCode } from '../../shared/auth/device/authorization.ts'
import { DeviceCode, DeviceCodeRequest, DeviceToken, DeviceTokenRequest } from '../../shared/auth/device/schema.ts'
import { openRoute, type Route } from '../http/route.ts'

/** The device authorization of RFC 8628, by which a program without a browser gets a token from a person. */
export const deviceRoutes: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/auth/device/code',
    operationId: 'requestDeviceCode',
    tag: 'Auth and identity',
    summary: 'Begin a device authorization',
    description:
      'Show `user_code` and `verification_uri` to the user, or open `verification_uri_complete`, and poll with `device_code` meanwhile. An address can keep 100 codes waiting.',
    body: DeviceCodeRequest,
    success: { status: 200, description: 'The codes', data: DeviceCode },
    errors: ['invalid_scope'],
    handle: async ({ tx, service, address, body }) => ({
      data: await requestCode({ tx, config: service.config, address }, body),
    }),
  }),
  openRoute({
    method: 'POST',
    path: '/auth/device/token',
    operationId: 'exchangeDeviceCode',
    tag: 'Auth and identity',
    summary: 'Poll for the token of a device authorization',
    description:
      'Poll no faster than `interval`; every poll that comes too soon lengthens it by five seconds for good. A code is exchanged once.',
    body: DeviceTokenRequest,
    success: { status: 200, description: 'The token', data: DeviceToken },
    errors: ['authorization_pending', 'slow_down', 'expired_token', 'access_denied', 'invalid_grant', 'quota_exceeded'],
    // The poll is noted before the transaction, so that a poll that is refused and rolled back counts too.
    prepare: ({ db, service, body }) => poll({ db, config: service.config }, body.device_code),
    handle: async ({ tx, service, body, prepared }) => ({
      data: await exchangeCode({ tx, config: service.config }, { deviceCode: body.device_code, poll: prepared() }),
    }),
  }),
]
