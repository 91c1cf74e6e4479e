import { conflict, forbidden, Problem } from '../../base/problem.ts'
import type { SignInProvider } from '../../base/providers/provider.ts'
import type { Ctx } from '../../ctx.ts'
import { createUser } from '../users/create/create-user.ts'
import { signUpFaults } from '../users/create/sign-up-rules.ts'
import { findUserByAddress, type UserRow } from '../users/queries.ts'
import { type ProvidedPerson, usableUsername } from './person.ts'

const MOST_NAMES = 50

/**
 * Makes the account of somebody who comes by a provider for the first time. An address that an account has is never taken
 * over: who says to own it at a provider need not be who owns it here.
 */
export async function createFromProvider(
  ctx: Ctx,
  provider: SignInProvider,
  person: ProvidedPerson,
): Promise<UserRow> {
  if (provider.sign_up === 'off') {
    throw forbidden('Nobody here has this identity. Sign in otherwise and link it to your account.')
  }
  const { email } = person
  if (email === undefined) throw forbidden('The provider gave no e-mail address.')
  if ((await signUpFaults(email, ctx.settings.all)).length > 0) {
    throw forbidden('Accounts with this e-mail address are not allowed.')
  }
  if (await findUserByAddress(ctx.db, email)) throw addressTaken()
  return await withFreeName(person, (username) =>
    createUser(ctx, {
      username,
      name: person.name.slice(0, 255) || username,
      email,
      identity: { provider: provider.name, extern_uid: person.uid },
      state: provider.sign_up === 'approval' ? 'blocked_pending_approval' : 'active',
      skip_confirmation: person.isEmailProven,
      ask_confirmation: !person.isEmailProven,
    }),
  )
}

/** The wanted name, or with the first number behind it that is free. */
async function withFreeName(
  { username, email }: ProvidedPerson,
  create: (username: string) => Promise<UserRow>,
): Promise<UserRow> {
  const wanted = usableUsername(username) ?? usableUsername(email ?? '') ?? 'user'
  for (let number = 0; number < MOST_NAMES; number++) {
    try {
      return await create(number === 0 ? wanted : `${wanted}${number}`)
    } catch (error) {
      if (!isNameRefused(error)) throw isAddressTaken(error) ? addressTaken() : error
    }
  }
  throw conflict('No username is free')
}

function isNameRefused(error: unknown): boolean {
  if (!(error instanceof Problem)) return false
  return error.fields?.username !== undefined || error.message.startsWith('Username ')
}

function isAddressTaken(error: unknown): boolean {
  return error instanceof Problem && error.message.startsWith('Email ')
}

function addressTaken(): Problem {
  return conflict(
    'An account has this e-mail address. Sign in to it, and link the provider in its settings.',
  )
}
