import { daily, every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { browsersOfSessions } from '../store/migrations/0350-browsers-of-sessions.ts'
import { termsAgreements } from '../store/migrations/0360-terms-agreements.ts'
import { secondFactor } from '../store/migrations/0370-second-factor.ts'
import * as accessTokens from './access-tokens/endpoints.ts'
import * as accessTokensImpersonation from './access-tokens/impersonation-endpoints.ts'
import * as customAttributes from './custom-attributes/endpoints.ts'
import * as gpgKeys from './gpg-keys/endpoints.ts'
import * as keysDeployKey from './keys/deploy-key-endpoints.ts'
import * as keys from './keys/endpoints.ts'
import { sendPlainMail } from './mail/tasks.ts'
import * as oauthApplication from './oauth/application-endpoints.ts'
import * as oauthDevice from './oauth/device-endpoints.ts'
import * as oauthDiscovery from './oauth/discovery-endpoints.ts'
import { removeExpiredSignIns } from './oauth/tasks.ts'
import * as oauthToken from './oauth/token-endpoints.ts'
import * as identities from './providers/endpoints.ts'
import { followDirectories } from './providers/ldap/tasks.ts'
import * as serviceAccounts from './service-accounts/endpoints.ts'
import * as serviceAccountsSource from './service-accounts/source-endpoints.ts'
import * as sessions from './sign-in/endpoints.ts'
import * as twoFactor from './two-factor/endpoints.ts'
import * as twoFactorKeys from './two-factor/keys/endpoints.ts'
import * as usersEmail from './users/addresses/endpoints.ts'
import * as usersAvatar from './users/avatar/endpoints.ts'
import * as usersCurrent from './users/current-endpoints.ts'
import * as users from './users/endpoints.ts'
import * as usersPeople from './users/people-endpoints.ts'
import * as usersStatus from './users/profile/status-endpoints.ts'
import { removeUserTask } from './users/removal/removal-task.ts'
import * as usersState from './users/state-endpoints.ts'
import {
  deactivateDormant,
  sendConfirmation,
  sendConfirmationAgain,
  sendPasswordLink,
  sendPasswordLinkTo,
} from './users/tasks.ts'

export const identityArea: Manifest = {
  name: 'identity',
  endpoints: endpointsOf({
    'access tokens': [accessTokens, accessTokensImpersonation],
    'custom attributes': customAttributes,
    'deploy keys': keysDeployKey,
    'service accounts': [serviceAccounts, serviceAccountsSource],
    applications: oauthApplication,
    keys: [gpgKeys, keys],
    'second factor': [twoFactor, twoFactorKeys],
    oauth: [oauthDevice, oauthDiscovery, oauthToken],
    sessions,
    'sign-in providers': identities,
    users: [usersAvatar, usersCurrent, usersEmail, users, usersPeople, usersState, usersStatus],
  }),
  tasks: [
    deactivateDormant,
    sendPlainMail,
    followDirectories,
    removeExpiredSignIns,
    removeUserTask,
    sendConfirmation,
    sendConfirmationAgain,
    sendPasswordLink,
    sendPasswordLinkTo,
  ],
  schedules: [
    daily('3:10', removeExpiredSignIns, {}),
    daily('3:40', deactivateDormant, {}),
    every(1_800_000, followDirectories, {}),
  ],
  migrations: [browsersOfSessions, termsAgreements, secondFactor],
}
