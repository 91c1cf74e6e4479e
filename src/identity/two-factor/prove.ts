import { audit } from '../../access/audit.ts'
import { later } from '../../base/clock.ts'
import { invalid, throttled } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser } from '../mail/mail-user.ts'
import { countTry, findTotp, takeRecoveryCode, takeStep } from './queries.ts'
import { recoveryDigest } from './recovery-codes.ts'
import { stepOf } from './totp.ts'

/** Names what is sealed. */
export const TOTP_SECRET = 'totp_secrets.secret'

const PERIOD_MS = 10 * 60_000
/** Codes that may be tried in that time: of a million, three are right. */
const TRIES = 10

/**
 * Whether a code proves the second factor of a user: one of their app, or a recovery code. Each counts once. Whoever may
 * try codes has shown the password, so the owner gets a mail after too many wrong ones; recovery codes are too long to guess,
 * and go on counting then.
 */
export async function proveByCode(ctx: Ctx, userId: number, given: string): Promise<void> {
  const code = given.replace(/\s/g, '')
  const right = /^\d{6}$/.test(code)
    ? await isRightNow(ctx, userId, code, 'confirmed')
    : await takeRecoveryCode(ctx.db, userId, recoveryDigest(code))
  const entity = { type: 'User', id: userId } as const
  if (!right) {
    await audit(ctx, { entity, action: 'second_factor_refused' })
    throw invalid({ code: ['is wrong, too old, or was used before'] })
  }
  if (!/^\d{6}$/.test(code)) await audit(ctx, { entity, action: 'recovery_code_used' })
}

/** Whether a code is one of the user's app now; it counts once. */
export async function isRightNow(
  ctx: Ctx,
  userId: number,
  code: string,
  app: 'confirmed' | 'waiting',
): Promise<boolean> {
  const now = ctx.now()
  // Counted before it is compared: many that are sent at once are counted like those sent one after the other.
  const tries = await countTry(ctx.db, userId, later(now, -PERIOD_MS), now)
  const row = await findTotp(ctx.db, userId)
  if (!tries || !row || (row.confirmed_at === null) !== (app === 'waiting')) return false
  if (tries.misses > TRIES) {
    if (tries.misses === TRIES + 1) await warn(ctx, userId)
    throw throttled({ 'Retry-After': String(PERIOD_MS / 1000) })
  }
  const step = stepOf(ctx.vault.open(row.secret, TOTP_SECRET), code, now)
  return step !== undefined && (await takeStep(ctx.db, userId, step))
}

async function warn(ctx: Ctx, userId: number): Promise<void> {
  await mailUser(ctx, userId, {
    subject: 'Wrong codes for your account',
    text: `Somebody who knows your password has given wrong codes for your account, lastly from ${ctx.ip || 'an unknown address'} at ${ctx.now()}. If that was not you, change your password: ${ctx.config.externalUrl}/-/user_settings/password\n`,
    key: `codes-${Date.parse(ctx.now())}`,
  })
}
