import { silentLog } from '../base/log.ts'
import type { Ctx } from '../ctx.ts'
import { isAnyoneHere } from '../identity/users/queries.ts'
import { holdsNothing, openCommandParts } from '../parts.ts'
import { passOverUnknown } from '../projects/unknown-repositories/pass-over.ts'
import type { Call } from './command.ts'

/**
 * Runs the work of a command that changes something, as the program itself, and closes everything whatever happens. The
 * administrator comes first: a data folder that no server has ever started is refused.
 */
export async function withData<T>(
  { config }: Pick<Call, 'config'>,
  work: (ctx: Ctx) => Promise<T>,
): Promise<T> {
  const settings = config()
  const parts = await openCommandParts(settings, { log: silentLog })
  try {
    if (!(await isAnyoneHere(parts.store.db))) throw holdsNothing(settings)
    const ctx = parts.makeCtx()
    await passOverUnknown(ctx)
    return await work(ctx)
  } finally {
    await parts.close()
  }
}
