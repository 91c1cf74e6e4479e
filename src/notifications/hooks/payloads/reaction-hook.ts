import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { task } from '../../../background/task.ts'
import type { Ctx } from '../../../ctx.ts'
import type { ChangedReaction } from '../../../discussions/effects.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { because, cause, causeOf, fireHooks, type HookPayload, wantsHooks } from '../fire.ts'
import { noteAttributes } from './note-hook.ts'
import { findHookNote } from './note-queries.ts'
import { readHookSubject } from './note-subject.ts'
import { hookActor, hookProject } from './payload-parts.ts'
import { findNewestReaction } from './reaction-queries.ts'

const reaction = z.object({
  id: z.int(),
  user_id: z.int(),
  name: z.string(),
  awardable_type: z.enum(['Issue', 'MergeRequest', 'Snippet', 'Note']),
  awardable_id: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})

const hookJob = {
  name: 'reactions.hooks',
  payload: z.object({
    project_id: z.int(),
    user_id: z.int().nullable(),
    action: z.enum(['award', 'revoke']),
    // All of it: one that was taken back is no longer there.
    reaction,
    ...cause,
  }),
}

/** Enqueues the notification of hooks of a reaction that was given or taken back; what it is on takes git. */
export async function enqueueReactionHooks(
  ctx: Ctx,
  { subject, row, action }: ChangedReaction,
): Promise<void> {
  const { project } = subject.noteable
  if (!(await wantsHooks(ctx, project, 'emoji'))) return
  await ctx.work.enqueue(ctx.db, hookJob, {
    project_id: project.id,
    user_id: userOf(ctx.actor)?.id ?? null,
    action,
    reaction: {
      id: row.award_id,
      user_id: row.id,
      name: row.award_name,
      awardable_type: subject.type,
      awardable_id: subject.id,
      created_at: row.awarded_at,
      updated_at: row.changed_at,
    },
    ...causeOf(ctx),
  })
}

/** Notifies hooks of a reaction (docs/contract/D §1.25 Emoji Hook). */
export const notifyOfReaction = task({
  ...hookJob,
  async handler(given: Ctx, { project_id, user_id, action, reaction, ...chain }) {
    const ctx = because(await actAs(given, user_id), chain)
    const project = await findProjectWithRole(ctx, project_id)
    const payload = project && (await reactionPayload(ctx, project, reaction, action))
    if (!payload) return
    await inTransaction(ctx, (ctx) => fireHooks(ctx, project, 'emoji', () => payload))
  },
})

async function reactionPayload(
  ctx: Ctx,
  project: Project,
  given: z.infer<typeof reaction>,
  action: ChangedReaction['action'],
): Promise<HookPayload | undefined> {
  const { awardable_type: type, awardable_id: id } = given
  const note = type === 'Note' ? await findHookNote(ctx.db, id) : undefined
  const ref =
    type === 'Note' ? note : { noteable_type: type, noteable_id: id, commit_id: null as null }
  const subject = ref && (await readHookSubject(ctx, project, ref))
  if (!subject) return undefined
  const { url } = subject.shown
  return {
    object_kind: 'emoji',
    event_type: action,
    user: await hookActor(ctx),
    project_id: project.id,
    project: hookProject(ctx, project),
    object_attributes: {
      ...given,
      action,
      awarded_on_url: note ? `${url}#note_${note.id}` : url,
    },
    ...(note ? { note: noteAttributes(subject, note) } : {}),
    [subject.key]: subject.shown,
  }
}

/** The newest reaction in a project as a payload, for trying a hook out. */
export async function newestReactionPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewestReaction(ctx.db, project.id)
  return row && (await reactionPayload(ctx, project, row, 'award'))
}
