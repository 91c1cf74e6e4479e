import type { Endpoint } from '../../http/endpoint.ts'
import type { Page } from '../page.ts'
import { takeOffForm } from './administer-person.tsx'
import {
  askConfirmationForm,
  askConfirmationPage,
  askPasswordForm,
  askPasswordPage,
} from './ask-for-mail.tsx'
import { authorizeForm, authorizePage } from './authorize.tsx'
import { beginByProvider, returnByProvider } from './by-provider.tsx'
import { deviceForm, devicePage } from './device.tsx'
import { dismissForm } from './dismiss.ts'
import { explorePage } from './explore.tsx'
import { exploreGroupsPage } from './explore-groups.tsx'
import { groupPage } from './group.tsx'
import { groupMembersPage } from './group-members.tsx'
import { helpPage } from './help.tsx'
import {
  confirmationForm,
  confirmationPage,
  passwordLinkForm,
  passwordLinkPage,
  unsubscribeForm,
  unsubscribePage,
} from './mail-links.tsx'
import { newGroupForm, newGroupPage } from './new-group.tsx'
import { newProjectForm, newProjectPage } from './new-project.tsx'
import { placePage } from './place.ts'
import { profilePage } from './profile.tsx'
import { secondFactorForm, secondFactorPage } from './second-factor.tsx'
import { keySignInForm, signInForm, signInPage, signOutForm } from './sign-in.tsx'
import { signUpForm, signUpPage } from './sign-up.tsx'
import { termsForm, termsPage } from './terms.tsx'

export const entryPages: readonly Page[] = [
  signInPage,
  secondFactorPage,
  signUpPage,
  termsPage,
  confirmationPage,
  passwordLinkPage,
  askPasswordPage,
  askConfirmationPage,
  unsubscribePage,
  authorizePage,
  devicePage,
  explorePage,
  exploreGroupsPage,
  helpPage,
  newProjectPage,
  newGroupPage,
  groupPage,
  groupMembersPage,
  profilePage,
  placePage,
]

/** The forms of these pages, and their parts with an address of their own. */
export const entryParts: readonly Endpoint[] = [
  takeOffForm,
  signInForm,
  beginByProvider,
  returnByProvider,
  keySignInForm,
  secondFactorForm,
  signOutForm,
  dismissForm,
  termsForm,
  signUpForm,
  confirmationForm,
  passwordLinkForm,
  askPasswordForm,
  askConfirmationForm,
  unsubscribeForm,
  authorizeForm,
  deviceForm,
  newProjectForm,
  newGroupForm,
]
