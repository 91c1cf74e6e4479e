import type { Client } from 'ldapts'
import { z } from 'zod'
import { task } from '../../../background/task.ts'
import type { LdapProvider } from '../../../base/providers/ldap.ts'
import type { Ctx } from '../../../ctx.ts'
import { listIdentitiesOf } from '../../users/identities/queries.ts'
import { moveUser } from '../../users/states.ts'
import { bringUpToDate } from '../sign-in.ts'
import { withDirectory } from './connection.ts'
import { findByUid } from './people.ts'

const BATCH = 200
const BATCH_MS = 120_000

/**
 * Twice an hour: blocks whom a directory does not hold any more, or holds as disabled, lets back in who is there again, and
 * gives everybody the roles of their groups. A directory that cannot be asked changes nothing: the task fails, and is tried again.
 */
export const followDirectories = task({
  name: 'providers.follow_directories',
  payload: z.object({}),
  lane: 'outbound',
  attempts: 3,
  async handler(ctx: Ctx, _, signal) {
    for (const provider of ctx.config.signInProviders.ldap) await follow(ctx, provider, signal)
  },
})

async function follow(ctx: Ctx, provider: LdapProvider, signal: AbortSignal): Promise<void> {
  for (let after = 0; !signal.aborted; ) {
    const batch = await listIdentitiesOf(ctx.db, provider.name, after, BATCH)
    const act = async (client: Client) => {
      for (const one of batch) await followOne(ctx, provider, client, one)
    }
    if (batch.length > 0) await withDirectory(ctx, provider, act, BATCH_MS)
    after = batch.at(-1)?.id ?? after
    if (batch.length < BATCH) return
  }
}

async function followOne(
  ctx: Ctx,
  provider: LdapProvider,
  client: Client,
  identity: { readonly user_id: number; readonly extern_uid: string },
): Promise<void> {
  const person = await findByUid(client, provider, identity.extern_uid)
  const isLet =
    person !== undefined &&
    (provider.allowed_groups.length === 0 ||
      person.groups.some((group) => provider.allowed_groups.includes(group)))
  await moveUser(ctx, identity.user_id, isLet ? 'admit_by_directory' : 'block_by_directory')
  if (isLet) await bringUpToDate(ctx, provider, person, identity.user_id)
}
