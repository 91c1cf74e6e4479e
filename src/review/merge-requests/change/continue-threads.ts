import type { Ctx } from '../../../ctx.ts'
import { resolveThread } from '../../../discussions/notes/access.ts'
import { openThreads } from '../../../discussions/notes/verbs.ts'
import { addNoteAbout } from '../../../discussions/references/note-mention.ts'
import type { ContinuedDiscussion } from '../../../planning/effects.ts'
import { asNoteable } from '../../../planning/issues/find.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { getMergeRequest, noteableOf } from '../find.ts'

/**
 * Resolves the open threads of a merge request, or the one that is named, because an issue goes on with them (docs/contract/D
 * §1.9 Create).
 */
export async function continueThreads(
  ctx: Ctx,
  { project, iid, issue, only }: ContinuedDiscussion,
): Promise<void> {
  const request = await getMergeRequest(ctx, project, iid)
  const noteable = noteableOf(ctx, project, request)
  const threads = await openThreads(ctx, noteable)
  const wanted = threads.filter((id) => only === undefined || id === only)
  await inTransaction(ctx, async (ctx) => {
    for (const id of wanted) {
      await resolveThread(ctx, noteable, id)
      const text = `created #${issue.iid} to continue this discussion`
      await addNoteAbout(ctx, noteable, 'discussion', text, asNoteable(ctx, project, issue))
    }
  })
}
