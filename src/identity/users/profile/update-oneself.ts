import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { callerId, getUser } from '../find-user.ts'
import { isConfirmedAddress } from '../queries.ts'
import { type UserChanges, updateUser } from '../update-user.ts'
import { provenCaller } from './own-password.ts'

/** What people say of themselves. The API lets administrators alone change users; this is for pages. */
export type OwnProfile = Pick<
  UserChanges,
  | 'name'
  | 'bio'
  | 'pronouns'
  | 'location'
  | 'organization'
  | 'job_title'
  | 'website_url'
  | 'public_email'
  | 'private_profile'
>

export async function updateOwnProfile(ctx: Ctx, changes: OwnProfile): Promise<void> {
  const user = await getUser(ctx, callerId(ctx))
  const shown = changes.public_email
  if (shown && !(await isConfirmedAddress(ctx.db, user, shown))) {
    throw invalid({ public_email: ['must be an address that you have confirmed'] })
  }
  await updateUser(ctx, user, changes)
}

/** Changes what the caller signs in with: who only found an open browser does not know the password. */
export async function updateOwnSignIn(
  ctx: Ctx,
  currentPassword: string,
  changes: Pick<UserChanges, 'email' | 'password'>,
): Promise<void> {
  const user = await provenCaller(ctx, currentPassword)
  if (user.password_expires_at !== null && changes.password === currentPassword) {
    throw invalid({ password: ['must be another than before'] })
  }
  await updateUser(ctx, user, changes)
}
