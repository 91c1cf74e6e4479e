import type { Endpoint } from '../../http/endpoint.ts'
import type { Page } from '../page.ts'
import { addEmailForm, emailsPage, firstEmailForm, removeEmailForm } from './emails.tsx'
import { addGpgKeyForm, gpgKeysPage, removeGpgKeyForm } from './gpg-keys.tsx'
import {
  identitiesPage,
  linkIdentityForm,
  proveIdentityForm,
  unlinkIdentityForm,
} from './identities.tsx'
import { notificationsForm, notificationsPage } from './notifications.tsx'
import { passwordForm, passwordPage } from './password.tsx'
import { accountProfileForm, accountProfilePage, avatarForm } from './profile.tsx'
import { revokeOthersForm, revokeSessionForm, sessionsPage } from './sessions.tsx'
import { sourceNotificationsForm } from './source-notifications.tsx'
import { addSshKeyForm, removeSshKeyForm, sshKeysPage } from './ssh-keys.tsx'
import { makeTokenForm, revokeTokenForm, tokensPage } from './tokens.tsx'
import {
  addKeyForm,
  confirmAppForm,
  offerAppForm,
  recoveryCodesForm,
  removeKeyForm,
  turnOffForm,
  twoFactorPage,
} from './two-factor/two-factor.tsx'

export const accountPages: readonly Page[] = [
  accountProfilePage,
  emailsPage,
  passwordPage,
  identitiesPage,
  twoFactorPage,
  sshKeysPage,
  gpgKeysPage,
  tokensPage,
  sessionsPage,
  notificationsPage,
]

/** The forms of these pages, and their parts with an address of their own. */
export const accountParts: readonly Endpoint[] = [
  accountProfileForm,
  avatarForm,
  addEmailForm,
  firstEmailForm,
  removeEmailForm,
  passwordForm,
  linkIdentityForm,
  proveIdentityForm,
  unlinkIdentityForm,
  offerAppForm,
  confirmAppForm,
  addKeyForm,
  removeKeyForm,
  recoveryCodesForm,
  turnOffForm,
  addSshKeyForm,
  removeSshKeyForm,
  addGpgKeyForm,
  removeGpgKeyForm,
  makeTokenForm,
  revokeTokenForm,
  revokeSessionForm,
  revokeOthersForm,
  notificationsForm,
  sourceNotificationsForm,
]
