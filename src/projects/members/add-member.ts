import { userOf } from '../../access/actor.ts'
import { dayOf } from '../../base/clock.ts'
import { conflict, methodNotAllowed, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  findMemberUser,
  findRowOfUser,
  insertMember,
  isMembershipLocked,
  updateMemberRow,
} from './queries.ts'
import { recordMembership } from './record.ts'
import type { MemberRow } from './rows.ts'
import {
  assertExpiry,
  assertLevel,
  assertMayAdmin,
  assertMayBelong,
  assertNotBelowInherited,
  assertWithinOwnLevel,
  type Grant,
} from './rules.ts'
import type { MemberSource } from './source.ts'

/** A membership to be made. */
export interface NewMember extends Grant {
  readonly memberRoleId?: number | null | undefined
}

/** Whether a row is a membership in force: accepted, and not over. */
export function isInForce(row: MemberRow, today: string): boolean {
  return row.requested_at === null && (row.expires_at === null || row.expires_at > today)
}

/**
 * Makes a user a member: 404 for an unknown one, 409 for a member, then 403, then 400, in this order (docs/contract/A-resolved
 * §9). A pending request of the user, or a membership that has ended, becomes the new one. Gives the user's id.
 */
export async function addMember(
  ctx: Ctx,
  source: MemberSource,
  by: { readonly id: number } | { readonly username: string },
  input: NewMember,
): Promise<number> {
  const user = await findMemberUser(ctx.db, by)
  if (!user || user.kind === 'ghost') throw notFound('User')
  await inTransaction(ctx, async (ctx) => {
    const row = await findRowOfUser(ctx.db, source, user.id)
    if (row && isInForce(row, dayOf(ctx.now()))) throw conflict('Member already exists')
    await assertGrant(ctx, source, input)
    await assertMayBelong(ctx, source, user)
    await assertNotBelowInherited(ctx, source, user.id, input.level)
    await saveMember(ctx, source, user.id, input, row)
    await recordMembership(ctx, source, 'member_added', user.id, input.level)
  })
  return user.id
}

/** What anybody must be allowed who gives a level in this source. */
export async function assertGrant(ctx: Ctx, source: MemberSource, grant: Grant): Promise<void> {
  assertMayAdmin(source)
  if (source.type === 'project' && (await isMembershipLocked(ctx.db, source.namespaceId))) {
    throw methodNotAllowed()
  }
  assertLevel(source, grant.level)
  assertWithinOwnLevel(ctx, source, grant.level)
  assertExpiry(ctx, grant.expiresAt)
}

async function saveMember(
  ctx: Ctx,
  source: MemberSource,
  userId: number,
  input: NewMember,
  row: MemberRow | undefined,
): Promise<void> {
  const now = ctx.now()
  const values = {
    access_level: input.level,
    expires_at: input.expiresAt ?? null,
    member_role_id: input.memberRoleId ?? null,
    created_by_id: userOf(ctx.actor)?.id ?? null,
    updated_at: now,
  }
  if (row) {
    const fresh = { requested_at: null, state: 'active', override: 0, created_at: now } as const
    await updateMemberRow(ctx.db, row.id, { ...values, ...fresh })
    return
  }
  await insertMember(ctx.db, {
    ...values,
    source_type: source.type,
    source_id: source.id,
    user_id: userId,
    created_at: now,
  })
}

/** What adding several answers: always a success of the request (docs/contract/A-resolved §9). */
export interface AddedMany {
  readonly status: 'success' | 'error'
  readonly message?: string | Record<string, string> | undefined
}

const MOST_AT_ONCE = 100

/** Adds several users; those who can be added are, and the answer tells why the others were not. */
export async function addMembers(
  ctx: Ctx,
  source: MemberSource,
  users: readonly ({ readonly id: number } | { readonly username: string })[],
  input: NewMember,
): Promise<AddedMany> {
  if (users.length > MOST_AT_ONCE) {
    return { status: 'error', message: `Too many users specified (limit is ${MOST_AT_ONCE})` }
  }
  const message: Record<string, string> = {}
  for (const by of users) {
    try {
      await addMember(ctx, source, by, input)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      message[await nameFor(ctx, by)] = sentence(error)
    }
  }
  return Object.keys(message).length === 0 ? { status: 'success' } : { status: 'error', message }
}

async function nameFor(
  ctx: Ctx,
  by: { readonly id: number } | { readonly username: string },
): Promise<string> {
  if ('username' in by) return by.username
  return (await findMemberUser(ctx.db, by))?.username ?? String(by.id)
}

/** `Access level should be …` from the fields of a refusal, or its text. */
export function sentence(problem: Problem): string {
  const fields = Object.entries(problem.fields ?? {})
  if (fields.length === 0) return problem.message
  return fields
    .flatMap(([field, texts]) => texts.map((text) => `${humanName(field)} ${text}`))
    .join(' and ')
}

function humanName(field: string): string {
  const words = field.replace(/_id$/, '').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
