import express, { type Request, type Router } from 'express'
import { signInWithPassword } from '../access/sign-in-basic.ts'
import { readTokenInfo, readUserInfo } from '../api/oauth/about-token.ts'
import {
  type AuthorizeRequest,
  grantCode,
  readConsent,
  redirectWith,
} from '../api/oauth/authorize.ts'
import { type ClientCredentials, getClient } from '../api/oauth/client.ts'
import { admitDevice, beginDevice } from '../api/oauth/device.ts'
import { grantToken, revokeBySecret } from '../api/oauth/tokens.ts'
import {
  formOf,
  type MakeCtx,
  pageCtx,
  problemText,
  queryOf,
  readForms,
  sendProblem,
} from './form.ts'
import { type Html, html, sendPage } from './page.ts'

/** The client of a request: Basic, or in the body (RFC 6749 §2.3.1). */
function clientOf(request: Request): ClientCredentials {
  const found = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(request.headers.authorization ?? '')
  const pair = found?.[1] ? Buffer.from(found[1], 'base64').toString('utf8') : ''
  const colon = pair.indexOf(':')
  if (colon > 0) {
    return { id: decoded(pair.slice(0, colon)), secret: decoded(pair.slice(colon + 1)) }
  }
  const form = formOf(request)
  return { id: form.client_id, secret: form.client_secret }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function bearerOf(request: Request): string {
  const header = /^bearer\s+(\S+)/i.exec(request.headers.authorization ?? '')
  return header?.[1] ?? queryOf(request).access_token ?? ''
}

function consentRequest(texts: Readonly<Record<string, string | undefined>>): AuthorizeRequest {
  return {
    clientId: texts.client_id ?? '',
    redirectUri: texts.redirect_uri ?? '',
    responseType: texts.response_type ?? '',
    scope: texts.scope ?? '',
    state: texts.state ?? '',
    codeChallenge: texts.code_challenge ?? '',
    codeChallengeMethod: texts.code_challenge_method ?? '',
  }
}

const consentFields = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
]

function signInFields(wrong: string): Html {
  return html`${wrong === '' ? '' : html`<p class="wrong">${wrong}</p>`}
<label>User name or e-mail <input name="username" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>`
}

/** Where a consent form may lead: the application's own origin or scheme. */
function formTarget(redirectUri: string): string {
  const url = new URL(redirectUri)
  return url.host === '' || !url.protocol.startsWith('http') ? url.protocol : url.origin
}

/** OAuth 2: tokens, consent, devices (spec D §1.1, RFC 6749, 7009, 7636, 7662, 8628). */
export function oauthPages(makeCtx: MakeCtx): Router {
  const routes = express.Router({ caseSensitive: true })
  routes.use(readForms())
  tokenRoutes(routes, makeCtx)
  consentRoutes(routes, makeCtx)
  deviceRoutes(routes, makeCtx)
  return routes
}

function tokenRoutes(routes: Router, makeCtx: MakeCtx): void {
  routes.post('/token', async (request, response) => {
    const form = formOf(request)
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
    try {
      const answer = await grantToken(pageCtx(makeCtx, request), {
        grantType: form.grant_type,
        client: clientOf(request),
        username: form.username,
        password: form.password,
        scope: form.scope,
        refreshToken: form.refresh_token,
        code: form.code,
        redirectUri: form.redirect_uri,
        codeVerifier: form.code_verifier,
        deviceCode: form.device_code,
      })
      response.json(answer)
    } catch (error) {
      sendProblem(response, error)
    }
  })
  routes.post('/revoke', async (request, response) => {
    try {
      const secret = formOf(request).token ?? ''
      await revokeBySecret(pageCtx(makeCtx, request), secret, clientOf(request))
      response.json({})
    } catch (error) {
      sendProblem(response, error)
    }
  })
  routes.post('/introspect', async (request, response) => {
    try {
      const ctx = pageCtx(makeCtx, request)
      const client = await getClient(ctx, clientOf(request))
      const info = await readTokenInfo(ctx, formOf(request).token ?? '')
      const own = info && info.application.uid === client.uid
      response.json(
        own
          ? {
              active: true,
              scope: info.scope.join(' '),
              client_id: client.uid,
              token_type: 'Bearer',
              exp: info.created_at + info.lifetime,
              iat: info.created_at,
            }
          : { active: false },
      )
    } catch (error) {
      sendProblem(response, error)
    }
  })
  routes.get('/token/info', async (request, response) => {
    const info = await readTokenInfo(pageCtx(makeCtx, request), bearerOf(request))
    if (!info) {
      response.status(401).json({
        error: 'invalid_token',
        error_description: 'The access token expired',
        state: 'unauthorized',
      })
      return
    }
    const { lifetime: _, ...shown } = info
    response.json(shown)
  })
  routes.get('/userinfo', async (request, response) => {
    try {
      response.json(await readUserInfo(pageCtx(makeCtx, request), bearerOf(request)))
    } catch (error) {
      sendProblem(response, error)
    }
  })
}

function consentRoutes(routes: Router, makeCtx: MakeCtx): void {
  const show = async (
    request: Request,
    response: Parameters<typeof sendPage>[0],
    texts: Readonly<Record<string, string | undefined>>,
    wrong: string,
  ) => {
    const asked = consentRequest(texts)
    const { application, scopes } = await readConsent(pageCtx(makeCtx, request), asked)
    sendPage(response, {
      title: `Let ${application.name} use your account?`,
      status: wrong === '' ? 200 : 401,
      formTo: formTarget(asked.redirectUri),
      body: html`<p>It asks for: ${scopes.join(', ')}. You will be sent to ${asked.redirectUri}.</p>
<form method="post" action="authorize">
${consentFields.map((name) => html`<input type="hidden" name="${name}" value="${texts[name] ?? ''}">`)}
${signInFields(wrong)}
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" formnovalidate>Deny</button>
</form>`,
    })
  }
  const refuse = (response: Parameters<typeof sendPage>[0], error: unknown) =>
    sendPage(response, {
      title: 'This request cannot be granted',
      status: 400,
      body: html`<p class="wrong">${problemText(error)}</p>`,
    })
  routes.get('/authorize', async (request, response) => {
    await show(request, response, queryOf(request), '').catch((error: unknown) =>
      refuse(response, error),
    )
  })
  routes.post('/authorize', async (request, response) => {
    const form = formOf(request)
    const asked = consentRequest(form)
    const ctx = pageCtx(makeCtx, request)
    try {
      await readConsent(ctx, asked)
      if (form.decision !== 'allow') {
        response.redirect(302, redirectWith(asked, { error: 'access_denied' }))
        return
      }
    } catch (error) {
      refuse(response, error)
      return
    }
    const given = { user: form.username ?? '', password: form.password ?? '' }
    const actor = await signInWithPassword(ctx, given).catch((error: unknown) => problemText(error))
    if (typeof actor === 'string') await show(request, response, form, actor)
    else response.redirect(302, await grantCode(ctx, asked, actor))
  })
}

function deviceRoutes(routes: Router, makeCtx: MakeCtx): void {
  routes.post('/authorize_device', async (request, response) => {
    try {
      const ctx = pageCtx(makeCtx, request)
      response.json(await beginDevice(ctx, clientOf(request), formOf(request).scope))
    } catch (error) {
      sendProblem(response, error)
    }
  })
  const show = (response: Parameters<typeof sendPage>[0], code: string, wrong: string) =>
    sendPage(response, {
      title: 'Let a device use your account',
      status: wrong === '' ? 200 : 401,
      body: html`<p>Go on only if the code below is on a device of your own.</p>
<form method="post" action="device">
<label>Code <input name="user_code" value="${code}" autocomplete="off" required></label>
${signInFields(wrong)}
<button>Allow</button>
</form>`,
    })
  routes.get('/device', (request, response) => {
    show(response, queryOf(request).user_code ?? '', '')
  })
  routes.post('/device', async (request, response) => {
    const form = formOf(request)
    const code = form.user_code ?? ''
    const ctx = pageCtx(makeCtx, request)
    const given = { user: form.username ?? '', password: form.password ?? '' }
    const actor = await signInWithPassword(ctx, given).catch((error: unknown) => problemText(error))
    if (typeof actor === 'string') show(response, code, actor)
    else if (!(await admitDevice(ctx, code, actor.user.id))) {
      show(response, code, 'The code is unknown, or has expired')
    } else sendPage(response, { title: 'Done', body: html`<p>The device may go on now.</p>` })
  })
}
