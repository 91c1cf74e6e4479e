import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { userOf } from '../../../access/actor.ts'
import type { Source } from '../../../access/sources.ts'
import { task } from '../../../background/task.ts'
import { dayOf } from '../../../base/clock.ts'
import { conflict, existing, Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { deliver } from '../../../identity/mail/deliver.ts'
import { signUpFaults } from '../../../identity/users/create/sign-up-rules.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { uniquely } from '../../../store/unique.ts'
import { refusedGrant } from '../access.ts'
import { type AddedMany, addEach, addOneOfMany, assertGrant } from '../add-member.ts'
import { isInForce } from '../find-member.ts'
import {
  deleteMemberRow,
  findMemberUser,
  findRowOfUser,
  insertMember,
  updateMemberRow,
} from '../queries.ts'
import { recordAccepted } from '../record.ts'
import { type Grant, levelName } from '../rules.ts'
import {
  findInvitation,
  findUserIdByEmail,
  type InvitationRow,
  listInvitationsTo,
} from './queries.ts'

/** An address with one `@` and no blanks: what mail servers will say of it is theirs. */
const ADDRESS = /^[^\s@<>,;]{1,64}@[^\s@<>,;]{1,190}$/

/** Sends the mail of an invitation. */
export const sendInvitation = task({
  name: 'members.send_invitation',
  payload: z.object({ to: z.string(), source: z.string(), level: z.string(), key: z.string() }),
  async handler(ctx: Ctx, { to, source, level, key }) {
    const joining = await howToJoin(ctx, to)
    const text = [`You are invited to ${source} as ${level}.`, '', joining, ''].join('\n')
    await deliver(ctx, { to, subject: `Invitation to ${source}`, text, key })
  },
})

/** Whoever confirms the address becomes a member; where nobody may sign up with it, an administrator makes the account. */
async function howToJoin({ config, settings }: Ctx, address: string): Promise<string> {
  const { externalUrl } = config
  const maySignUp =
    settings.get('signup_enabled') && (await signUpFaults(address, settings.all)).length === 0
  return maySignUp
    ? `To accept, sign up with the address ${address} at ${externalUrl}/users/sign_up.\nIf you have an account there already, add this address to it instead.`
    : `To accept, ask an administrator of ${externalUrl} for an account with the address ${address}.\nIf you have an account there already, add this address to it instead.`
}

/** Invites addresses; whoever has an account becomes a member at once. Always an answer, never a refusal (docs/contract/D §1.4). */
export async function inviteByEmail(
  ctx: Ctx,
  source: Source,
  emails: readonly string[],
  input: Grant,
): Promise<AddedMany> {
  return await addEach(
    emails,
    (email) => inviteOne(ctx, source, email.trim(), input),
    (email) => email,
  )
}

async function inviteOne(ctx: Ctx, source: Source, email: string, input: Grant): Promise<void> {
  if (!ADDRESS.test(email))
    throw new Problem('invalid', 400, { message: 'Invite email is invalid' })
  const userId = await findUserIdByEmail(ctx.db, email)
  if (userId !== undefined) return await addOneOfMany(ctx, source, { id: userId }, input)
  const refused = refusedGrant(ctx, source, input.access_level)
  if (refused) throw refused
  const now = ctx.now()
  const key = randomBytes(16).toString('hex')
  const already = () => conflict('The member invite has already been sent')
  await assertGrant(ctx, source, input)
  await uniquely({ 'members.source_type, members.source_id, members.invite_email': already }, () =>
    inTransaction(ctx, async (ctx) => {
      await insertMember(ctx.db, {
        source_type: source.type,
        source_id: source.id,
        invite_email: email,
        invite_token_digest: createHash('sha256').update(key).digest(),
        access_level: input.access_level,
        expires_at: input.expires_at ?? null,
        member_role_id: input.member_role_id ?? null,
        created_by_id: userOf(ctx.actor)?.id ?? null,
        created_at: now,
        updated_at: now,
      })
      const level = levelName(input.access_level)
      await ctx.work.enqueue(ctx.db, sendInvitation, {
        to: email,
        source: source.full_path,
        level,
        key,
      })
    }),
  )
}

/** The invitation of an address, or 404. */
export async function getInvitation(
  ctx: Ctx,
  source: Source,
  email: string,
): Promise<InvitationRow> {
  return existing(await findInvitation(ctx.db, source, email))
}

/** Changes an invitation that nobody has accepted. */
export async function changeInvitation(
  ctx: Ctx,
  source: Source,
  email: string,
  change: Grant,
): Promise<InvitationRow> {
  await assertGrant(ctx, source, change)
  return await inTransaction(ctx, async (ctx) => {
    // Read again inside: whoever has accepted it meanwhile is a member.
    const { id } = await getInvitation(ctx, source, email)
    await updateMemberRow(ctx.db, id, {
      access_level: change.access_level,
      updated_at: ctx.now(),
      expires_at: change.expires_at,
    })
    return await getInvitation(ctx, source, email)
  })
}

/** Takes an invitation back that nobody has accepted. */
export async function takeBackInvitation(ctx: Ctx, source: Source, email: string): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const { id } = await getInvitation(ctx, source, email)
    await deleteMemberRow(ctx.db, id)
  })
}

/**
 * Turns everything that an address was invited to into memberships of the person who has just confirmed it. For whoever
 * creates users and confirms addresses; joins the transaction it is called in.
 */
export async function acceptInvitations(
  ctx: Ctx,
  { userId, email }: { readonly userId: number; readonly email: string },
): Promise<void> {
  const now = ctx.now()
  await inTransaction(ctx, async (ctx) => {
    // Whoever makes a service account gives it any address, where the instance asks nobody: it proves nothing.
    if ((await findMemberUser(ctx.db, { id: userId }))?.kind !== 'human') return
    for (const row of await listInvitationsTo(ctx.db, email, dayOf(now))) {
      const source = { type: row.source_type, id: row.source_id }
      const own = await findRowOfUser(ctx.db, source, userId)
      if (own && isInForce(own, dayOf(now))) {
        await deleteMemberRow(ctx.db, row.id)
        continue
      }
      if (own) await deleteMemberRow(ctx.db, own.id)
      await updateMemberRow(ctx.db, row.id, {
        user_id: userId,
        invite_email: null,
        invite_token_digest: null,
        invite_accepted_at: now,
        updated_at: now,
      })
      await recordAccepted(ctx, source, userId, row.access_level)
    }
  })
}
