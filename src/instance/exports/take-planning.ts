import type { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { createLabel } from '../../planning/labels/verbs.ts'
import { changeMilestone, createMilestone } from '../../planning/milestones/verbs.ts'
import type { Place } from '../../planning/place.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { label, milestone } from './archive-form.ts'

/** Makes the labels and milestones of an archive; `around` may pass over what cannot be made. */
export async function takePlanning(
  ctx: Ctx,
  place: Place,
  given: {
    readonly labels: readonly z.infer<typeof label>[]
    readonly milestones: readonly z.infer<typeof milestone>[]
  },
  around: (make: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  for (const label of given.labels) await around(() => createLabel(ctx, place, label))
  for (const milestone of given.milestones) {
    await around(() => inTransaction(ctx, (ctx) => takeMilestone(ctx, place, milestone)))
  }
}

/** As it was: closed, where it was. */
async function takeMilestone(ctx: Ctx, place: Place, given: z.infer<typeof milestone>) {
  const row = await createMilestone(ctx, place, given)
  if (given.state === 'closed') await changeMilestone(ctx, place, row, { state_event: 'close' })
}
