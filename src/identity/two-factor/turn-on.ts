import { audit } from '../../access/audit.ts'
import { later } from '../../base/clock.ts'
import { conflict, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { mailUser } from '../mail/mail-user.ts'
import { isRightNow, TOTP_SECRET } from './prove.ts'
import {
  confirmTotp,
  countRecoveryCodes,
  findTotp,
  hasTotp,
  replaceRecoveryCodes,
  saveTotp,
} from './queries.ts'
import { newRecoveryCodes, recoveryDigest } from './recovery-codes.ts'
import { newTotpSecret, totpUri } from './totp.ts'

interface Owner {
  readonly id: number
  readonly username: string
}

/** What an app is given to make codes of. */
export interface OfferedApp {
  readonly secret: string
  readonly uri: string
}

/** Makes the secret of an app; it counts once a code of the app has come back. */
export async function offerApp(ctx: Ctx, user: Owner): Promise<OfferedApp> {
  const secret = newTotpSecret()
  const sealed = ctx.vault.seal(secret, TOTP_SECRET)
  if (!(await saveTotp(ctx.db, user.id, sealed, ctx.now()))) {
    throw conflict('An app is in use already: turn it off before another is set up')
  }
  return { secret, uri: totpUri(secret, user.username, ctx.config.externalUrl) }
}

/** How long a page goes on showing a secret that waits for a code. */
const SHOWN_FOR_MS = 15 * 60_000

/** The secret that waits for a code of the app, so that a page shows it again after a wrong one. */
export async function waitingApp(ctx: Ctx, user: Owner): Promise<OfferedApp | undefined> {
  const row = await findTotp(ctx.db, user.id)
  if (!row || row.confirmed_at !== null) return undefined
  if (row.created_at < later(ctx.now(), -SHOWN_FOR_MS)) return undefined
  const secret = ctx.vault.open(row.secret, TOTP_SECRET)
  return { secret, uri: totpUri(secret, user.username, ctx.config.externalUrl) }
}

/** Turns codes of an app on; gives the recovery codes where there were none. */
export async function confirmApp(ctx: Ctx, userId: number, code: string): Promise<string[]> {
  if (await hasTotp(ctx.db, userId)) throw conflict('An app is in use already')
  if (!(await isRightNow(ctx, userId, code.replace(/\s/g, ''), 'waiting'))) {
    throw invalid({ code: ['is not the one that the app shows now'] })
  }
  return inTransaction(ctx, async (inner) => {
    await confirmTotp(inner.db, userId, inner.now())
    return await noteTurnedOn(inner, userId, 'app')
  })
}

/** What goes with each new second factor: recovery codes with the first, a note, and a mail. */
export async function noteTurnedOn(
  ctx: Ctx,
  userId: number,
  kind: 'app' | 'key',
): Promise<string[]> {
  const entity = { type: 'User', id: userId } as const
  await audit(ctx, { entity, action: 'second_factor_added', details: { kind } })
  const what = kind === 'app' ? 'An authenticator app' : 'A passkey or security key'
  await mailUser(ctx, userId, {
    subject: 'A second factor was added to your account',
    text: `${what} was added to your account at ${ctx.now()}. If that was not you, change your password and ask an administrator of ${ctx.config.externalUrl} to take it off.\n`,
    key: `second-factor-${Date.parse(ctx.now())}`,
  })
  return (await countRecoveryCodes(ctx.db, userId)) === 0
    ? await makeRecoveryCodes(ctx, userId)
    : []
}

/** New recovery codes, which are seen this once; those before count no more. */
export async function makeRecoveryCodes(ctx: Ctx, userId: number): Promise<string[]> {
  const codes = newRecoveryCodes()
  await inTransaction(ctx, async (inner) => {
    await replaceRecoveryCodes(inner.db, userId, codes.map(recoveryDigest))
    const entity = { type: 'User', id: userId } as const
    await audit(inner, { entity, action: 'recovery_codes_made' })
  })
  return codes
}
