import { randomBytes } from 'node:crypto'
import { userOf } from '../../../access/actor.ts'
import { audit } from '../../../access/audit.ts'
import { hashPassword } from '../../../access/authentication/password.ts'
import { runEffects } from '../../../base/effects.ts'
import { conflict, invalid, refuseFaults } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { ChangesOf } from '../../../store/schema.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { uniquely } from '../../../store/unique.ts'
import { confirmAddress } from '../addresses/confirm-address.ts'
import { replaceIdentity } from '../identities/queries.ts'
import { emailFaults, nameFaults, tooLong, usernameFaults } from '../names.ts'
import { passwordFaults } from '../passwords/password-faults.ts'
import type { UserSettings } from '../profile/profile.ts'
import { insertUser, isEmailTaken, type UserRow } from '../queries.ts'
import { occursIn } from './sign-up-rules.ts'

/** Columns of a user that whoever creates or edits one may set. */
const settable = [
  'public_email',
  'commit_email',
  'admin',
  'external',
  'private_profile',
  'projects_limit',
  'can_create_group',
  'bio',
  'location',
  'website_url',
  'organization',
  'job_title',
  'pronouns',
  'note',
  'avatar_file',
  'avatar_name',
  'password_expires_at',
] as const

type Settable = Pick<ChangesOf<'users'>, (typeof settable)[number]>
export type UserColumns = { readonly [K in keyof Settable]?: Settable[K] | undefined }

export interface NewUser extends UserColumns {
  readonly username: string
  readonly name: string
  readonly email: string
  /** Without one, nobody can sign in by password until it is set. */
  readonly password?: string | undefined
  /** The address counts as confirmed; otherwise the instance's settings say whether a mail asks. */
  readonly skip_confirmation?: boolean | undefined
  /** A mail asks for the address whatever the instance's settings say: people made the account for themselves. */
  readonly ask_confirmation?: boolean | undefined
  readonly settings?: Partial<UserSettings> | undefined
  readonly identity?: { readonly provider: string; readonly extern_uid: string } | undefined
  readonly kind?: UserRow['kind'] | undefined
  readonly state?: UserRow['state'] | undefined
  readonly service_source?: { readonly type: 'group' | 'project'; readonly id: number } | undefined
  /** Service accounts: the address that waits for its confirmation. */
  readonly unconfirmed_email?: string | undefined
}

const emailTaken = () => conflict('Email has already been taken')
const usernameTaken = () => conflict('Username has already been taken')

/** What a broken unique index means when a user is written (docs/contract/D §1.1: 409). */
export const userConflicts = {
  'users.email': emailTaken,
  'users.username': usernameTaken,
  'routes.path': usernameTaken,
  'identities.provider, identities.extern_uid': () =>
    invalid({ 'identities.extern_uid': ['has already been taken'] }),
}

/**
 * Creates a user with the personal namespace in one transaction: the API, the command line, bots and the first start
 * all come here (docs/contract/D §1.1). Taken names are 409, wrong values 400.
 */
export async function createUser(ctx: Ctx, input: NewUser): Promise<UserRow> {
  assertGoodUser(ctx, input)
  const passwordHash = input.password === undefined ? null : await hashPassword(input.password)
  const defaults = await defaultsOf(ctx, input.email)
  return uniquely(userConflicts, () =>
    inTransaction(ctx, (inner) => writeUser(inner, { ...input, defaults }, passwordHash)),
  )
}

function assertGoodUser(ctx: Ctx, input: NewUser): void {
  refuseFaults({
    email: emailFaults(input.email),
    username: usernameFaults(input.username),
    name: nameFaults(input.name),
    password:
      input.password === undefined ? [] : passwordFaults(input.password, input, ctx.settings.all),
    bio: tooLong(input.bio, 255),
  })
}

async function writeUser(
  ctx: Ctx,
  input: NewUser & { readonly defaults: Awaited<ReturnType<typeof defaultsOf>> },
  passwordHash: string | null,
): Promise<UserRow> {
  if (await isEmailTaken(ctx.db, input.email)) throw emailTaken()
  const now = ctx.now()
  const confirmed =
    input.skip_confirmation === true ||
    (input.ask_confirmation !== true && ctx.settings.get('email_confirmation_setting') === 'off')
  const row = await insertUser(ctx.db, {
    ...input.defaults,
    ...columnsOf(input),
    ...identifying(input),
    password_hash: passwordHash,
    settings: JSON.stringify(input.settings ?? {}),
    confirmed_at: confirmed ? now : null,
    created_by_id: userOf(ctx.actor)?.id ?? null,
    created_at: now,
    updated_at: now,
  })
  if (input.identity) {
    await replaceIdentity(ctx.db, { ...input.identity, user_id: row.id, created_at: now })
  }
  await audit(ctx, {
    entity: { type: 'User', id: row.id },
    action: 'user_created',
    details: { username: row.username, admin: row.admin === 1 },
  })
  await runEffects(ctx, ctx.effects.userCreated, row)
  const toConfirm = row.unconfirmed_email ?? (confirmed ? null : row.email)
  if (toConfirm !== null) await confirmAddress(ctx, row, toConfirm)
  if (confirmed) {
    await runEffects(ctx, ctx.effects.addressConfirmed, { userId: row.id, email: row.email })
  }
  return row
}

/** What the instance's settings say of new users. */
async function defaultsOf({ settings }: Pick<Ctx, 'settings'>, email: string) {
  const inside = settings.get('user_default_internal_regex')
  return {
    external: settings.get('user_default_external') && !(inside && (await occursIn(inside, email))),
    private_profile: settings.get('user_defaults_to_private_profile'),
    projects_limit: settings.get('default_projects_limit'),
    can_create_group: settings.get('can_create_group'),
  }
}

function identifying(input: NewUser) {
  return {
    username: input.username,
    name: input.name,
    email: input.email,
    kind: input.kind ?? 'human',
    state: input.state ?? 'active',
    unconfirmed_email: input.unconfirmed_email ?? null,
    service_source_type: input.service_source?.type ?? null,
    service_source_id: input.service_source?.id ?? null,
  }
}

/** The plain columns that were given. */
export function columnsOf(input: UserColumns): Settable {
  const given = settable.filter((name) => input[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, input[name]]))
}

/** A password nobody knows, for users who sign in otherwise. */
export function randomPassword(): string {
  return randomBytes(24).toString('base64url')
}
