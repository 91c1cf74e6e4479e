import { userOf } from '../../access/actor.ts'
import { assertMayInProject, type Project } from '../../access/subjects.ts'
import { notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { uniquely } from '../../store/unique.ts'
import { type AwardableType, deleteAward, findOwnAward, insertAward } from './queries.ts'

/** Something that people react to with an emoji. */
export interface Awardable {
  readonly type: AwardableType
  readonly id: number
}

/** Emoji names are words of letters, digits, `_`, `+` and `-`, at most 100 characters. */
const NAME = /^[a-z0-9_+-]{1,100}$/i

function plainName(name: string): string {
  const plain = name.replaceAll(':', '')
  if (!NAME.test(plain)) throw notFound('Award Emoji Name is not a valid emoji name')
  return plain
}

/** Adds the caller's reaction and gives its id; 404 for the same one twice. */
export async function award(
  ctx: Ctx,
  project: Project,
  subject: Awardable,
  name: string,
): Promise<number> {
  const user = userOf(ctx.actor)
  if (!user) throw unauthorized()
  assertMayInProject(ctx, project, 'award_emoji')
  const plain = plainName(name)
  const columns =
    'award_emoji.awardable_type, award_emoji.awardable_id, award_emoji.user_id, award_emoji.name'
  const twice = () => notFound('Award Emoji Name has already been taken')
  return await uniquely({ [columns]: twice }, () =>
    insertAward(ctx.db, subject.type, subject.id, plain, user.id, ctx.now()),
  )
}

/** Adds the caller's reaction, or takes it back when it is there. */
export async function toggleAward(
  ctx: Ctx,
  project: Project,
  subject: Awardable,
  name: string,
): Promise<void> {
  const user = userOf(ctx.actor)
  if (!user) throw unauthorized()
  const own = await findOwnAward(ctx.db, subject.type, subject.id, user.id, plainName(name))
  if (own) await deleteAward(ctx.db, own.id)
  else await award(ctx, project, subject, name)
}
