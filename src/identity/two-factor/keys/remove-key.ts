import { audit } from '../../../access/audit.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { mailUser } from '../../mail/mail-user.ts'
import { hasTotp, replaceRecoveryCodes } from '../queries.ts'
import { deleteSecurityKey, listSecurityKeys, type SecurityKeyRow } from './queries.ts'

/** Removes a key; recovery codes go with the last second factor. */
export async function removeKey(ctx: Ctx, key: SecurityKeyRow): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    const { user_id: userId, name } = key
    await deleteSecurityKey(inner.db, key.id)
    const isLast =
      !(await hasTotp(inner.db, userId)) && (await listSecurityKeys(inner.db, userId)).length === 0
    if (isLast) await replaceRecoveryCodes(inner.db, userId, [])
    const entity = { type: 'User', id: userId } as const
    await audit(inner, { entity, action: 'security_key_removed', details: { name } })
    await mailUser(inner, userId, {
      subject: 'A key of your account was removed',
      text: `The passkey or security key "${name}" of your account was removed at ${inner.now()}. If that was not you, change your password: ${inner.config.externalUrl}/-/user_settings/password\n`,
      key: `key-removed-${key.id}`,
    })
  })
}
