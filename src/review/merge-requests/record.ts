import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import type { TodoTarget } from '../../discussions/todos/add.ts'
import type { UserBasicRow } from '../../identity/users/basic.ts'
import { recordStateEvent } from '../../planning/resource-events/record.ts'
import { noteableOf } from './find.ts'
import type { MergeRequestRow } from './row.ts'

/** Writes down what happened to a merge request as a system note, in the caller's transaction. */
export async function noteChange(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  action: string,
  text: string,
): Promise<void> {
  await addSystemNote(ctx, noteableOf(ctx, project, row), action, text)
}

const states = { closed: 'closed', reopened: 'reopened', accepted: 'merged' } as const

/** Adds a change of state to the feed and to the resource's own events, in the caller's transaction. */
export async function feedChange(
  ctx: Ctx,
  row: MergeRequestRow,
  action: 'opened' | 'closed' | 'reopened' | 'accepted' | 'approved',
): Promise<void> {
  if (action in states) {
    const state = states[action as keyof typeof states]
    await recordStateEvent(ctx, { type: 'merge_request', id: row.id }, state)
  }
  await runEffects(ctx, ctx.effects.activity, {
    projectId: row.target_project_id,
    action,
    targetType: 'MergeRequest',
    targetId: row.id,
    targetIid: row.iid,
    targetTitle: row.title,
  })
}

/** The merge request as to-dos see it. */
export function todoTarget(row: MergeRequestRow): TodoTarget {
  return { type: 'MergeRequest', id: row.id, projectId: row.target_project_id }
}

/** `@a, @b` */
export function mentions(users: readonly UserBasicRow[]): string {
  return users.map((user) => `@${user.username}`).join(', ')
}

/** `assigned to @a and unassigned @b`, or with other words; undefined when nothing changed. */
export function peopleNote(
  change: { readonly added: readonly UserBasicRow[]; readonly removed: readonly UserBasicRow[] },
  words: readonly [string, string],
): string | undefined {
  const parts = [
    change.added.length > 0 ? `${words[0]} ${mentions(change.added)}` : undefined,
    change.removed.length > 0 ? `${words[1]} ${mentions(change.removed)}` : undefined,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(' and ')
}
