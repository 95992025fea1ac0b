import { type ClientMetadata, errors } from 'oidc-provider'
import { scopes } from '../../shared/auth/scopes.ts'
import { cutText, isStorable } from '../../shared/schema/strings.ts'

const longestName = 80
const longestUri = 2000
const mostUris = 20

/** The grant types of the service, which a client gets unless it asks for fewer. */
export const grantTypes = ['authorization_code', 'refresh_token']

/** The signature algorithm that the library wants to know, although the service signs no ID token. */
export const signingAlgorithm = 'Ed25519'

// What is kept of a client's metadata. Everything else is dropped, as RFC 7591 allows: the service shows no logos, and
// fetches nothing that a client names.
const kept = new Set(['client_id', 'client_id_issued_at', 'client_name', 'redirect_uris', 'scope', 'grant_types'])

/** The members of a client's metadata that the answer to a registration has. */
export const answeredMembers: ReadonlySet<string> = new Set([
  ...kept,
  'application_type',
  'response_types',
  'token_endpoint_auth_method',
])

/**
 * Makes the metadata of a client what this service supports: a public client that gets codes with PKCE. It does not
 * matter whether the client has registered or has a metadata document. What a client asks for beyond that is replaced
 * and not refused, because many programs register with one text everywhere. Throws `invalid_client_metadata` or
 * `invalid_redirect_uri`.
 */
export function normaliseClient(metadata: Partial<ClientMetadata>): void {
  for (const name of Object.keys(metadata)) if (!kept.has(name)) delete metadata[name]
  const { client_name: name, scope, grant_types: asked, redirect_uris: uris } = metadata
  Object.assign(metadata, {
    // With this type the library demands https or a loopback address, and lets the port of the latter vary (RFC 8252).
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
    response_modes: ['query'],
    id_token_signed_response_alg: signingAlgorithm,
    grant_types: grantTypes.filter((type, index) => index === 0 || (Array.isArray(asked) && asked.includes(type))),
  })
  delete metadata.client_name
  delete metadata.scope
  if (name != null) metadata.client_name = nameOf(name)
  const known = typeof scope === 'string' ? scope.split(' ').filter((item) => scopes.some((own) => own === item)) : []
  // A person approves what a program asks for. The library would refuse a request for more than a document names.
  const hasDocument = URL.canParse(metadata.client_id ?? '')
  if (known.length > 0 && !hasDocument) metadata.scope = known.join(' ')
  requirePlainUris(uris)
}

function nameOf(name: unknown): string {
  const trimmed = typeof name === 'string' ? name.trim() : ''
  if (trimmed !== '' && isStorable(trimmed)) return cutText(trimmed, longestName)
  throw new errors.InvalidClientMetadata(
    'client_name must be a text that is not empty, without U+0000 or lone surrogates',
  )
}

// The library refuses the schemes of scripts and files, and demands https or a loopback address of the web. These
// schemes belong to browsers, operating systems and their programs too, and would hand a code to something that never
// asked for it. Any other scheme may be that of an app, whose code is of no use without the secret of PKCE.
const foreignSchemes = new Set(
  `android-app bitcoin blob brave callto chrome cid content dav devtools edge extension facetime facetime-audio
  feed filesystem ftp ftps geo git gopher hcp help imap intent irc itms itms-apps itms-services jar ldap ldaps
  magnet mailto market microsoft-edge mid mms moz-icon news nfs nntp openid opera pop prefs rdp res resource rtsp
  search search-ms sftp shell shortcuts sip sips smb sms ssh tel telnet urn view-source vivaldi vnc webcal ws wss
  xmpp`.split(/\s+/),
)
const foreignFamilies = /^(ms|chrome|moz|safari|x-apple|x-help|x-man|web)[-+]|-extension:$/

function isForeign(protocol: string): boolean {
  return foreignSchemes.has(protocol.slice(0, -1)) || foreignFamilies.test(protocol)
}

// A user name in an address could make it look like the address of another host.
function requirePlainUris(uris: unknown): void {
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > mostUris) {
    throw new errors.InvalidClientMetadata(`redirect_uris must be a list of 1 to ${mostUris} addresses`)
  }
  for (const uri of uris) {
    const parsed = typeof uri === 'string' && uri.length <= longestUri ? URL.parse(uri) : null
    const isPlain = parsed !== null && parsed.username === '' && parsed.password === '' && /^[\x21-\x7e]+$/.test(uri)
    if (isPlain && !isForeign(parsed.protocol)) continue
    const rule = `addresses of at most ${longestUri} characters, without a user name, on the web or in an app`
    throw new errors.InvalidClientMetadata(`redirect_uris must only contain ${rule}`)
  }
}
