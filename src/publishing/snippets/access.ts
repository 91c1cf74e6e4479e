import { isAdmin, userOf } from '../../access/actor.ts'
import { instanceRecord } from '../../access/records.ts'
import { signedIn } from '../../access/subjects.ts'

/** What signed-in callers do for themselves, outside of projects: external users may less. */
export const onCaller = instanceRecord(
  {
    params: {},
    find: async () => ({}),
    conditions: ({ ctx }) => ({
      external: userOf(ctx.actor)?.external === true && !isAdmin(ctx.actor),
    }),
  },
  signedIn,
)
