import { userOf } from '../../access/actor.ts'
import type { Source } from '../../access/sources.ts'
import { methodNotAllowed, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { refusedGrant } from './access.ts'
import { getNewcomer, type UserKey } from './find-member.ts'
import { findMemberUser, insertMember, isMembershipLocked, updateMemberRow } from './queries.ts'
import { recordAccepted } from './record.ts'
import type { MemberRow } from './rows.ts'
import {
  assertExpiry,
  assertLevel,
  assertMayBelong,
  assertNotBelowInherited,
  type Grant,
} from './rules.ts'

/**
 * Makes a user a member: 404 for an unknown one, 409 for a member, then 400 (docs/contract/A-resolved §9). A pending request of
 * the user, or a membership that has ended, becomes the new one. Gives the user's id.
 */
export async function addMember(
  ctx: Ctx,
  source: Source,
  by: UserKey,
  input: Grant,
): Promise<number> {
  return await inTransaction(ctx, async (ctx) => {
    const { user, row } = await getNewcomer(ctx, source, by)
    await assertGrant(ctx, source, input)
    await assertMayBelong(ctx, source, user)
    await assertNotBelowInherited(ctx, source, user.id, input.access_level)
    await saveMember(ctx, source, user.id, input, row)
    await recordAccepted(ctx, source, user.id, input.access_level)
    return user.id
  })
}

/** What every level that is given in this source must be. */
export async function assertGrant(ctx: Ctx, source: Source, grant: Grant): Promise<void> {
  if (source.type === 'project' && (await isMembershipLocked(ctx.db, source.namespaceId))) {
    throw methodNotAllowed()
  }
  assertLevel(source, grant.access_level)
  assertExpiry(ctx, grant.expires_at)
}

async function saveMember(
  ctx: Ctx,
  source: Source,
  userId: number,
  input: Grant,
  row: MemberRow | undefined,
): Promise<void> {
  const now = ctx.now()
  const values = {
    access_level: input.access_level,
    expires_at: input.expires_at ?? null,
    member_role_id: input.member_role_id ?? null,
    created_by_id: userOf(ctx.actor)?.id ?? null,
    updated_at: now,
  }
  if (row) {
    const fresh = {
      requested_at: null,
      state: 'active',
      override: 0,
      provider: null,
      created_at: now,
    } as const
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

/** Adds several users; those who can be added are, and the answer says why the others were not. */
export async function addMembers(
  ctx: Ctx,
  source: Source,
  users: readonly UserKey[],
  input: Grant,
): Promise<AddedMany> {
  if (users.length > MOST_AT_ONCE) {
    return { status: 'error', message: `Too many users specified (limit is ${MOST_AT_ONCE})` }
  }
  return await addEach(
    users,
    (by) => addOneOfMany(ctx, source, by, input),
    (by) => nameFor(ctx, by),
  )
}

/** As `addMember`, or the refusal of a caller who may not give the level. */
export async function addOneOfMany(
  ctx: Ctx,
  source: Source,
  by: UserKey,
  input: Grant,
): Promise<void> {
  const refused = refusedGrant(ctx, source, input.access_level)
  if (!refused) return void (await addMember(ctx, source, by, input))
  await getNewcomer(ctx, source, by)
  throw refused
}

/** Adds one after the other, and gathers what was refused by the name of each. */
export async function addEach<T>(
  all: readonly T[],
  add: (one: T) => Promise<void>,
  nameOf: (one: T) => string | Promise<string>,
): Promise<AddedMany> {
  const message: Record<string, string> = {}
  for (const one of all) {
    try {
      await add(one)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      message[await nameOf(one)] = sentence(error)
    }
  }
  return Object.keys(message).length === 0 ? { status: 'success' } : { status: 'error', message }
}

async function nameFor(ctx: Ctx, by: UserKey): Promise<string> {
  if ('username' in by) return by.username
  return (await findMemberUser(ctx.db, by))?.username ?? String(by.id)
}

/** `Access level should be …` from the fields of a refusal, or its text. */
function sentence(problem: Problem): string {
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
