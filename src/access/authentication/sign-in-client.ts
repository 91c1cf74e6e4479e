import { unauthorized } from '../../base/problem.ts'
import { type Actor, ANONYMOUS, type UserActor } from '../actor.ts'
import { type Admits, actAsAsked, findActorByToken } from './authenticate.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { openClientToken } from './client-token.ts'
import { type Credentials, hasScope } from './credentials.ts'
import { findDeployToken } from './deploy-token.ts'
import { findJobActor } from './job-token.ts'

/**
 * Who a package manager signs in as. Such programs know one place for a secret, and people put there what they have: a
 * personal, project or group access token, a deploy token or a job token, whatever the header. A password is not taken.
 * The user name beside the token of a job or a deploy token must be theirs; that beside an access token, where the
 * protocol wants it (docs/contract/C-resolved §0.2).
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
  const userName = admits.client?.userName
  const user = userName === 'ignored' ? undefined : userBeside(given, credentials)
  const byToken = await findActorByToken(context, secret)
  if (byToken) return userName === 'own' ? named(byToken, credentials, given) : byToken
  const byJob = await findJobActor(context, secret)
  if (byJob) {
    if (user !== undefined && !context.config.vendor.jobTokenUsers.includes(user))
      throw unauthorized()
    return byJob
  }
  const deployToken = await findDeployToken(context, { user, password: secret })
  if (!deployToken || !hasScope(deployToken, admits.deployToken)) throw unauthorized()
  return deployToken
}

/** The user name of Basic whose password this is. */
function userBeside(given: string, { basic }: Credentials): string | undefined {
  return given === basic?.password ? basic.user : undefined
}

/** The user of an access token, unless Basic names another. */
function named(actor: UserActor, { basic }: Credentials, given: string): UserActor {
  const isBasic = given === basic?.password || given === basic?.user
  if (isBasic && basic.user.toLowerCase() !== actor.user.username.toLowerCase())
    throw unauthorized()
  return actor
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
