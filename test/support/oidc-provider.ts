import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/** What a person is called by the provider of a test. */
export interface ProviderAccount {
  readonly [claim: string]: unknown
}

/** A real OpenID Connect provider (`oidc-provider`), whose people sign in without being asked. */
export interface TestProvider {
  readonly issuer: string
  readonly accounts: Map<string, ProviderAccount>
  /** Who signs in next. */
  signInAs(id: string): void
  /** Walks from the address that we were sent to, until the provider sends the browser back to us. */
  walk(url: string): Promise<string>
  close(): Promise<void>
}

export const CLIENT = { client_id: 'gitstead', client_secret: 'a secret of the client' }

/** Opens a provider that knows one client, with a redirect to `redirectUri`. */
export async function openProvider(redirectUris: readonly string[]): Promise<TestProvider> {
  const server: Server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const accounts = new Map<string, ProviderAccount>()
  let next = ''
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [...redirectUris] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['one'] },
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username', 'groups'],
      email: ['email', 'email_verified'],
    },
    findAccount: (_ctx, id) => {
      const claims = accounts.get(id)
      return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) }
    },
    // The pages for people are the provider's own affair: whoever comes is who the test says.
    features: { devInteractions: { enabled: false } },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  })
  const callback = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response)
    void (async () => {
      const { prompt, params, grantId } = await provider.interactionDetails(request, response)
      if (next === '') {
        const result = { error: 'access_denied', error_description: 'no' }
        return await provider.interactionFinished(request, response, result)
      }
      if (prompt.name === 'login') {
        const result = { login: { accountId: next } }
        return await provider.interactionFinished(request, response, result)
      }
      const grant =
        (grantId && (await provider.Grant.find(grantId))) ||
        new provider.Grant({ accountId: next, clientId: String(params.client_id) })
      grant.addOIDCScope('openid profile email')
      const result = { consent: { grantId: await grant.save() } }
      return await provider.interactionFinished(request, response, result)
    })()
  })
  return {
    issuer,
    accounts,
    signInAs(id) {
      next = id
    },
    async walk(first) {
      const cookies = new Map<string, string>()
      for (let url = first; ; ) {
        if (!url.startsWith(issuer)) return url
        const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
        const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          cookies.set(name, value)
        }
        const location = response.headers.get('location')
        if (location === null) throw new Error(`${response.status} ${await response.text()}`)
        url = new URL(location, url).href
      }
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
