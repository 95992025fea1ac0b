/** The paths of the authorization server below PUBLIC_ORIGIN. */
export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
  /** The page on which a person decides about a request. */
  consent: '/oauth/consent',
} as const
