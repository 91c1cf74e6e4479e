import { userOf } from '../../access/actor.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Signer } from '../../git/write/signer.ts'

/** The caller as author, committer or tagger; `given` parts come before their own, each by itself. */
export function signerOf(
  ctx: Pick<Ctx, 'actor' | 'now'>,
  given: { readonly name?: string | undefined; readonly email?: string | undefined } = {},
): Signer {
  const user = userOf(ctx.actor)
  // Deploy tokens and the server itself write no commits.
  if (!user) throw forbidden()
  return {
    name: given.name?.trim() || user.name,
    email: given.email?.trim() || user.email,
    date: ctx.now(),
  }
}
