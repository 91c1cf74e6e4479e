import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { existing, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { completeTodos } from '../todos/add.ts'
import { assertMayAward } from './access.ts'
import type { Awardable } from './awardable.ts'
import { emojiName } from './emoji-names.ts'
import {
  type AwardableType,
  type AwardRow,
  deleteAward,
  findAward,
  findOwnAward,
  insertAward,
  insertAwardsOf,
} from './queries.ts'

function plainName(name: string): string {
  const known = emojiName(name.replaceAll(':', ''))
  if (known === undefined) throw notFound('Award Emoji Name is not a valid emoji name')
  return known
}

/** Adds the caller's reaction, who has seen the thing by that; 404 for the same one twice, and on what the server noted. */
export function award(ctx: Ctx, subject: Awardable, name: string): Promise<AwardRow> {
  return inTransaction(ctx, async (ctx) => {
    await completeTodosOf(ctx, subject)
    return addAward(ctx, subject, name)
  })
}

/** The same in the caller's transaction, with no to-do done. */
async function addAward(ctx: Ctx, subject: Awardable, name: string): Promise<AwardRow> {
  const userId = callerId(ctx)
  if (subject.note?.system === 1) throw notFound('Award Emoji')
  const plain = plainName(name)
  const columns =
    'award_emoji.awardable_type, award_emoji.awardable_id, award_emoji.user_id, award_emoji.name'
  const twice = () => notFound('Award Emoji Name has already been taken')
  const id = await uniquely({ [columns]: twice }, () =>
    insertAward(ctx.db, subject.type, subject.id, plain, userId, ctx.now()),
  )
  const row = existing(await findAward(ctx.db, subject.type, subject.id, id), 'Award Emoji')
  await runEffects(ctx, ctx.effects.reactionChanged, { subject, row, action: 'award' })
  return row
}

async function completeTodosOf(ctx: Ctx, { noteable: { type, id } }: Awardable): Promise<void> {
  if ((type === 'Issue' || type === 'MergeRequest') && id !== null)
    await completeTodos(ctx, { type, id })
}

/** Takes a reaction back; 404 when somebody did so a moment ago. */
export async function takeBack(ctx: Ctx, subject: Awardable, row: AwardRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    if (!(await deleteAward(ctx.db, row.award_id))) throw notFound('Award Emoji')
    await runEffects(ctx, ctx.effects.reactionChanged, { subject, row, action: 'revoke' })
  })
}

/** Adds the caller's reaction, or takes it back when it is there. */
export async function toggleAward(
  ctx: Ctx,
  project: Project,
  subject: Awardable,
  name: string,
): Promise<void> {
  const userId = callerId(ctx)
  await inTransaction(ctx, async (ctx) => {
    const row = await findOwnAward(ctx.db, subject.type, subject.id, userId, plainName(name))
    if (row) return takeBack(ctx, subject, row)
    assertMayAward(ctx, project)
    await addAward(ctx, subject, name)
  })
}

/** Gives a copy of a thing the reactions of the thing, in the caller's transaction. */
export function copyAwards(
  ctx: Pick<Ctx, 'db'>,
  type: AwardableType,
  fromId: number,
  toId: number,
): Promise<void> {
  return insertAwardsOf(ctx.db, type, fromId, toId)
}
