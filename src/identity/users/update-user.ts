import { audit } from '../../access/audit.ts'
import { hashPassword } from '../../access/authentication/password.ts'
import { runEffects } from '../../base/effects.ts'
import { conflict, existing, refuseFaults } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { confirmAddress } from './addresses/confirm-address.ts'
import { columnsOf, type UserColumns, userConflicts } from './create/create-user.ts'
import { replaceIdentity } from './identities/queries.ts'
import { emailFaults, nameFaults, tooLong, usernameFaults } from './names.ts'
import { passwordFaults } from './passwords/password-faults.ts'
import { readUserSettings, type UserSettings } from './profile/profile.ts'
import { findUserRow, isEmailTaken, type UserRow, updateUserRow } from './queries.ts'

export interface UserChanges extends UserColumns {
  readonly username?: string | undefined
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly password?: string | undefined
  /** A new address counts as confirmed at once. */
  readonly skip_reconfirmation?: boolean | undefined
  readonly settings?: Partial<UserSettings> | undefined
  readonly identity?: { readonly provider: string; readonly extern_uid: string } | undefined
}

/** Changes what was sent; a new address waits for its confirmation unless asked otherwise (docs/contract/D §1.1). */
export async function updateUser(ctx: Ctx, user: UserRow, changes: UserChanges): Promise<UserRow> {
  assertGoodChanges(ctx, user, changes)
  const password = changes.password === undefined ? undefined : await hashPassword(changes.password)
  return uniquely(userConflicts, () =>
    inTransaction(ctx, async (inner) => {
      // Read again: hashing a password takes long, and what was said of the user meanwhile stays.
      const current = existing(await findUserRow(inner.db, user.id), 'User')
      return writeChanges(inner, current, changes, password)
    }),
  )
}

function assertGoodChanges(ctx: Ctx, user: UserRow, changes: UserChanges): void {
  const { username, name, email, password } = changes
  refuseFaults({
    username: username === undefined ? [] : usernameFaults(username),
    name: name === undefined ? [] : nameFaults(name),
    email: email === undefined ? [] : emailFaults(email),
    password:
      password === undefined
        ? []
        : passwordFaults(
            password,
            { ...user, ...definedOf({ username, name, email }) },
            ctx.settings.all,
          ),
    bio: tooLong(changes.bio, 255),
  })
}

function definedOf<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

async function writeChanges(
  ctx: Ctx,
  user: UserRow,
  changes: UserChanges,
  passwordHash: string | undefined,
): Promise<UserRow> {
  const address = await addressColumns(ctx, user, changes)
  const row = await updateUserRow(ctx.db, user.id, {
    // A new password serves for as long as nothing else is said of it.
    ...(passwordHash === undefined ? {} : { password_expires_at: null }),
    ...columnsOf(changes),
    ...definedOf({ username: changes.username, name: changes.name, password_hash: passwordHash }),
    ...address,
    ...(changes.settings
      ? {
          settings: JSON.stringify({ ...readUserSettings(user.settings), ...changes.settings }),
        }
      : {}),
    updated_at: ctx.now(),
  })
  if (row.username !== user.username || row.name !== user.name) {
    const renamed = { user: row, oldUsername: user.username }
    await runEffects(ctx, ctx.effects.userRenamed, renamed)
  }
  if (changes.identity) {
    const identity = { ...changes.identity, user_id: row.id, created_at: ctx.now() }
    await replaceIdentity(ctx.db, identity)
  }
  if (passwordHash !== undefined)
    await runEffects(ctx, ctx.effects.passwordChanged, { userId: row.id })
  if (address.unconfirmed_email) await confirmAddress(ctx, row, address.unconfirmed_email)
  await audit(ctx, {
    entity: { type: 'User', id: row.id },
    action: 'user_updated',
    details: { username: row.username, changed: changedNames(changes) },
  })
  return row
}

/** The columns of a new first address: taken at once, or once its owner has confirmed it. */
async function addressColumns(
  ctx: Ctx,
  user: Pick<UserRow, 'id' | 'email'>,
  changes: Pick<UserChanges, 'email' | 'skip_reconfirmation'>,
): Promise<{ email?: string; unconfirmed_email?: string | null; confirmed_at?: string }> {
  const { email } = changes
  if (email === undefined || email === user.email) return {}
  if (await isEmailTaken(ctx.db, email, user.id)) throw conflict('Email has already been taken')
  const atOnce =
    changes.skip_reconfirmation === true ||
    ctx.settings.get('email_confirmation_setting') === 'off' ||
    email.toLowerCase() === user.email.toLowerCase()
  return atOnce
    ? { email, unconfirmed_email: null, confirmed_at: ctx.now() }
    : { unconfirmed_email: email }
}

function changedNames(changes: UserChanges): string {
  return Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name)
    .join(', ')
}
