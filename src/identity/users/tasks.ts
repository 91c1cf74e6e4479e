import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { digestOf } from '../../access/token-use.ts'
import { task } from '../../background/task.ts'
import { dayOf, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deliver } from '../mail/deliver.ts'
import { saveConfirmation } from './addresses/confirmation-queries.ts'
import { findUnconfirmed, findUserByAddress, findUserRow, listDormantIds } from './queries.ts'
import { moveUser } from './states.ts'

const payload = z.object({ user_id: z.int(), email: z.string() })

/** Makes the secret of a link when it is sent: no table, and no task, ever holds one. */
async function newLink(
  ctx: Ctx,
  given: z.infer<typeof payload>,
  purpose: 'confirm' | 'reset_password',
): Promise<string> {
  const secret = randomBytes(24).toString('base64url')
  const row = { ...given, purpose, digest: digestOf(secret), created_at: ctx.now() }
  await saveConfirmation(ctx.db, row)
  return secret
}

/** Asks by mail whether an address belongs to the user. */
export const sendConfirmation = task({
  name: 'users.send_confirmation',
  payload,
  async handler(ctx: Ctx, given) {
    await mailConfirmation(ctx, given)
  },
})

async function mailConfirmation(ctx: Ctx, given: z.infer<typeof payload>): Promise<void> {
  const user = await findUserRow(ctx.db, given.user_id)
  if (!user) return
  const secret = await newLink(ctx, given, 'confirm')
  const link = `${ctx.config.externalUrl}/users/confirmation?confirmation_token=${secret}`
  await deliver(ctx, {
    to: given.email,
    subject: 'Confirm your e-mail address',
    text: `Hello ${user.name},\n\nsomebody gave this address for the account ${user.username}. If it is yours, confirm it here:\n\n${link}\n\nIf not, do nothing.\n`,
    key: `confirm-${user.id}-${digestOf(secret).toString('hex').slice(0, 24)}`,
  })
}

/** Sends a link under which a new password can be set. */
export const sendPasswordLink = task({
  name: 'users.send_password_link',
  payload,
  async handler(ctx: Ctx, given) {
    await mailPasswordLink(ctx, given)
  },
})

async function mailPasswordLink(ctx: Ctx, given: z.infer<typeof payload>): Promise<void> {
  const user = await findUserRow(ctx.db, given.user_id)
  if (!user) return
  const secret = await newLink(ctx, given, 'reset_password')
  const { externalUrl } = ctx.config
  const link = `${externalUrl}/users/password/edit?reset_password_token=${secret}`
  await deliver(ctx, {
    to: given.email,
    subject: 'Set your password',
    text: `Hello ${user.name},\n\nthe password of your account ${user.username} can be set here within an hour:\n\n${link}\n\nAfter that, have another link sent: ${externalUrl}/users/password/new\n\nIf you did not ask for this, do nothing.\n`,
    key: `password-${user.id}-${digestOf(secret).toString('hex').slice(0, 24)}`,
  })
}

const addressed = z.object({ email: z.string() })
/** No address gets more of these mails, however often somebody asks. */
const EVERY_MS = 2 * 60_000

/**
 * Has a task mail a link, unless one went to this address lately. The task is tried again while the mail server is away,
 * and makes the link that counts: what is saved here takes its place until then.
 */
async function mailSeldom(
  ctx: Ctx,
  to: z.infer<typeof payload>,
  purpose: 'confirm' | 'reset_password',
  mail: typeof sendConfirmation | typeof sendPasswordLink,
): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    const digest = digestOf(randomBytes(24).toString('base64url'))
    const row = { ...to, purpose, digest, created_at: inner.now() }
    const isFirst = await saveConfirmation(inner.db, row, later(inner.now(), -EVERY_MS))
    if (isFirst) await inner.work.enqueue(inner.db, mail, to)
  })
}

/** Somebody has forgotten their password and gave this address, which may be nobody's. */
export const sendPasswordLinkTo = task({
  name: 'users.send_password_link_to',
  payload: addressed,
  async handler(ctx: Ctx, { email }) {
    const user = await findUserByAddress(ctx.db, email)
    if (user?.state !== 'active' || user.kind !== 'human') return
    const to = { user_id: user.id, email: user.email }
    await mailSeldom(ctx, to, 'reset_password', sendPasswordLink)
  },
})

/** Somebody waits for the mail that asks about this address, which may be nobody's. */
export const sendConfirmationAgain = task({
  name: 'users.send_confirmation_again',
  payload: addressed,
  async handler(ctx: Ctx, { email }) {
    const found = await findUnconfirmed(ctx.db, email)
    const to = found && { user_id: found.id, email: found.email }
    if (to) await mailSeldom(ctx, to, 'confirm', sendConfirmation)
  },
})

const DAY_MS = 86_400_000
/** Who is new may take a week to come for the first time. */
const NEW_DAYS = 7
const BATCH = 100

/** Every day, where administrators want it: deactivates who has done nothing for as long as they have set. */
export const deactivateDormant = task({
  name: 'users.deactivate_dormant',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _, signal) {
    if (!ctx.settings.get('deactivate_dormant_users')) return
    const days = ctx.settings.get('deactivate_dormant_users_period')
    const since = {
      activeSince: dayOf(later(ctx.now(), -days * DAY_MS)),
      created: later(ctx.now(), -NEW_DAYS * DAY_MS),
    }
    for (;;) {
      const ids = await listDormantIds(ctx.db, since, BATCH)
      for (const id of ids) await moveUser(ctx, id, 'deactivate')
      if (ids.length < BATCH || signal.aborted) return
    }
  },
})
