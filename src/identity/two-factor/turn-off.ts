import { audit } from '../../access/audit.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { mailUser } from '../mail/mail-user.ts'
import { deleteSecurityKeys } from './keys/queries.ts'
import { deleteTotp, replaceRecoveryCodes } from './queries.ts'

/** Removes every second factor of a user: at their own request, or by an administrator for somebody who has lost theirs. */
export async function turnOffSecondFactor(
  ctx: Ctx,
  user: { readonly id: number; readonly username: string; readonly two_factor: 0 | 1 },
): Promise<void> {
  if (user.two_factor === 0) {
    throw badRequest('Two-factor authentication is not enabled for this user')
  }
  await inTransaction(ctx, async (inner) => {
    await deleteTotp(inner.db, user.id)
    await deleteSecurityKeys(inner.db, user.id)
    await replaceRecoveryCodes(inner.db, user.id, [])
    await audit(inner, {
      entity: { type: 'User', id: user.id },
      action: 'second_factor_turned_off',
      details: { username: user.username },
    })
    await mailUser(inner, user.id, {
      subject: 'The second factor of your account was turned off',
      text: `The second factor of your account was turned off at ${inner.now()}: the password alone signs in. If that was not you, change your password: ${inner.config.externalUrl}/-/user_settings/password\n`,
      key: `second-factor-off-${Date.parse(inner.now())}`,
    })
  })
}
