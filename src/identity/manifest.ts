import { daily } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { deployKeysOfProjects } from '../store/migrations/0141-deploy-keys-of-projects.ts'
import { oauthTokenFamilies } from '../store/migrations/0142-oauth-token-families.ts'
import * as accessTokens from './access-tokens/endpoints.ts'
import * as accessTokensImpersonation from './access-tokens/impersonation-endpoints.ts'
import * as customAttributes from './custom-attributes/endpoints.ts'
import * as gpgKeys from './gpg-keys/endpoints.ts'
import * as keysDeployKey from './keys/deploy-key-endpoints.ts'
import * as keys from './keys/endpoints.ts'
import { sendPlainMail } from './mail/tasks.ts'
import * as oauthApplication from './oauth/application-endpoints.ts'
import * as oauthAuthorize from './oauth/authorize-endpoints.ts'
import * as oauthDevice from './oauth/device-endpoints.ts'
import * as oauthDiscovery from './oauth/discovery-endpoints.ts'
import { removeExpiredSignIns } from './oauth/tasks.ts'
import * as oauthToken from './oauth/token-endpoints.ts'
import * as serviceAccounts from './service-accounts/endpoints.ts'
import * as serviceAccountsSource from './service-accounts/source-endpoints.ts'
import * as signIn from './sign-in/endpoints.ts'
import * as signInSignUp from './sign-in/sign-up-endpoints.ts'
import * as usersEmail from './users/addresses/endpoints.ts'
import * as usersLink from './users/addresses/link-endpoints.ts'
import * as usersAvatar from './users/avatar/endpoints.ts'
import * as usersCurrent from './users/current-endpoints.ts'
import * as users from './users/endpoints.ts'
import * as usersPeople from './users/people-endpoints.ts'
import * as usersStatus from './users/profile/status-endpoints.ts'
import { removeUserTask } from './users/removal/removal-task.ts'
import * as usersState from './users/state-endpoints.ts'
import { deactivateDormant, sendConfirmation, sendPasswordLink } from './users/tasks.ts'

export const identityArea: Manifest = {
  name: 'identity',
  endpoints: endpointsOf({
    'access tokens': [accessTokens, accessTokensImpersonation],
    'custom attributes': customAttributes,
    'deploy keys': keysDeployKey,
    'service accounts': [serviceAccounts, serviceAccountsSource],
    'sign-in': [signIn, signInSignUp, usersLink],
    applications: oauthApplication,
    keys: [gpgKeys, keys],
    oauth: [oauthAuthorize, oauthDevice, oauthDiscovery, oauthToken],
    users: [usersAvatar, usersCurrent, usersEmail, users, usersPeople, usersState, usersStatus],
  }),
  tasks: [
    deactivateDormant,
    sendPlainMail,
    removeExpiredSignIns,
    removeUserTask,
    sendConfirmation,
    sendPasswordLink,
  ],
  schedules: [daily('3:10', removeExpiredSignIns, {}), daily('3:40', deactivateDormant, {})],
  migrations: [deployKeysOfProjects, oauthTokenFamilies],
}
