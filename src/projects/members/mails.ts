import { userOf } from '../../access/actor.ts'
import { Role } from '../../access/roles.ts'
import type { SourceRef } from '../../access/sources.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser } from '../../identity/mail/mail-user.ts'
import { findSourcePath, listManagerIds } from './queries.ts'
import { levelName } from './rules.ts'

/** Mails people about access that they got, asked for, or were denied. In the transaction that did it. */
export async function mailOfMember(
  ctx: Ctx,
  source: SourceRef,
  event: 'added' | 'requested' | 'denied',
  userId: number,
  level: number,
): Promise<void> {
  const place = await findSourcePath(ctx.db, source)
  if (!place) return
  const { path, name } = place
  const url = `${ctx.config.externalUrl}/${source.type === 'group' ? 'groups/' : ''}${path}`
  const what = `the ${source.type} ${name} (${path})`
  const key = `member-${event}-${source.type}-${source.id}-${Date.parse(ctx.now())}`
  const own = userOf(ctx.actor)?.id === userId
  if (event === 'requested') {
    const requester = userOf(ctx.actor)
    const least = source.type === 'group' ? Role.owner : Role.maintainer
    for (const id of await listManagerIds(ctx.db, source, least)) {
      await mailUser(ctx, id, {
        subject: `${requester?.name ?? 'Somebody'} asks for access to ${name}`,
        text: `@${requester?.username ?? ''} asks for access to ${what}.\n\n${url}/-/${source.type}_members\n`,
        key: `${key}-${userId}`,
      })
    }
  } else if (event === 'added' && !own) {
    await mailUser(ctx, userId, {
      subject: `Access to ${name} was granted`,
      text: `You are now ${levelName(level)} of ${what}.\n\n${url}\n`,
      key,
    })
  } else if (event === 'denied' && !own) {
    // Who withdraws a request knows it (docs/contract/A-resolved §10).
    await mailUser(ctx, userId, {
      subject: `Access to ${name} was denied`,
      text: `Your request for access to ${what} was denied.\n`,
      key,
    })
  }
}
