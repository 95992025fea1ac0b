import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Test } from 'tap'

// A certificate of this file alone, for localhost, 127.0.0.1 and [::1]. Nothing else trusts it.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLY3d5ASLLpFEMx2f
OKSxT64tiDKud6vjy8gwZGrhraahRANCAAQJ8+gfG9ElAoElvr215OE6VMW2s81w
45BAqsW6ISIibKAbr8DEGdbtlwvjBDcFRrXPXvRPn7SgfWWFLg6mjr9R
-----END PRIVATE KEY-----
`
const cert = `-----BEGIN CERTIFICATE-----
MIIBszCCAVqgAwIBAgIUFIH5CzMALESFX4mbnjsh8vA4IKcwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMY2xpZW50cy50ZXN0MCAXDTI2MTEyMzA2MzMxMFoYDzIxMjYx
MDMwMDYzMzEwWjAXMRUwEwYDVQQDDAxjbGllbnRzLnRlc3QwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQJ8+gfG9ElAoElvr215OE6VMW2s81w45BAqsW6ISIibKAb
r8DEGdbtlwvjBDcFRrXPXvRPn7SgfWWFLg6mjr9Ro4GBMH8wHQYDVR0OBBYEFCeH
KnBKZYn9K7d3VNZRdNs2AKS1MB8GA1UdIwQYMBaAFCeHKnBKZYn9K7d3VNZRdNs2
AKS1MA8GA1UdEwEB/wQFMAMBAf8wLAYDVR0RBCUwI4IJbG9jYWxob3N0hwR/AAAB
hxAAAAAAAAAAAAAAAAAAAAABMAoGCCqGSM49BAMCA0cAMEQCIBeBwHntkV8FxhR2
n8lu8v7wgntnYFcIoVfno4YiNYGVAiBIh/2nuznKl0ZIYpOiFauQVK3Kc17A03ky
WKvM3sEOSw==
-----END CERTIFICATE-----
`

/** Starts an HTTPS server on this computer, which this process trusts. It ends with the test. Returns its port. */
export async function startTlsServer(t: Test, listener: RequestListener): Promise<number> {
  const trusted = getCACertificates()
  setDefaultCACertificates([...trusted, cert])
  const server = createServer({ key, cert }, listener).listen(0)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    setDefaultCACertificates(trusted)
  })
  return (server.address() as AddressInfo).port
}
