import { unauthorized } from '../../base/problem.ts'
import { type Actor, ANONYMOUS } from '../actor.ts'
import { type Admits, actAsAsked, findActorByToken } from './authenticate.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { openClientToken } from './client-token.ts'
import { type Credentials, hasScope } from './credentials.ts'
import { findDeployToken } from './deploy-token.ts'
import { findJobActor } from './job-token.ts'

/**
 * Who a package manager signs in as. Such programs know one place for a secret, and people put there what they have: a
 * personal, project or group access token, a deploy token or a job token, whatever the header and the user name. A
 * password is not taken.
 */
export async function signInClient(
  context: AuthenticationContext,
  credentials: Credentials,
  admits: Admits,
): Promise<Actor> {
  return await actAsAsked(context, credentials, await actorOf(context, credentials, admits))
}

async function actorOf(
  context: AuthenticationContext,
  credentials: Credentials,
  admits: Admits,
): Promise<Actor> {
  const given = secretOf(credentials)
  if (given === undefined) return ANONYMOUS
  const purpose = admits.client?.issued?.purpose
  const secret = (purpose && openClientToken(context, given, purpose)) ?? given
  // A token of ours may stand for nobody.
  if (secret === '') return ANONYMOUS
  const byToken = await findActorByToken(context, secret)
  if (byToken) return byToken
  const byJob = await findJobActor(context, secret)
  if (byJob) return byJob
  const deployToken = await findDeployToken(context, { password: secret })
  if (!deployToken || !hasScope(deployToken, admits.deployToken)) throw unauthorized()
  return deployToken
}

/**
 * The one secret of a request, the most particular place first; a token may stand as the user name of Basic. Clients that
 * sign in are also made to name an API key, which then may be any word: it counts where there is nothing else.
 */
function secretOf(credentials: Credentials): string | undefined {
  const { basic } = credentials
  const given = [
    credentials.deployToken,
    credentials.jobToken,
    credentials.token,
    basic?.password,
    basic?.user,
    credentials.anyToken,
    credentials.queryToken,
  ]
  return given.find((one) => one !== undefined && one !== '')
}
