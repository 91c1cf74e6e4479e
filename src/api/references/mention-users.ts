import { userOf } from '../../access/actor.ts'
import { findProjectRole } from '../../access/find-queries.ts'
import type { Project } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { addTodos, type TodoTarget } from '../todos/add.ts'
import { findReferences } from './find-references.ts'
import { listUsersByName } from './queries.ts'

/** Most people that one text calls. */
const MAX_CALLED = 50

/** Tells the users whom a text mentions, if they may see the project; at the text's beginning they are addressed. */
export async function mentionUsers(
  ctx: Ctx,
  project: Project,
  target: TodoTarget,
  text: string,
  noteId?: number,
): Promise<void> {
  const names = findReferences(text).flatMap((one) => (one.kind === 'user' ? [one.username] : []))
  if (names.length === 0) return
  const addressed = new Set(/^(?:\s*@[\w.-]+,?)+/.exec(text)?.[0].match(/[\w.-]+/g) ?? [])
  const users = await listUsersByName(ctx.db, names.slice(0, MAX_CALLED))
  const me = userOf(ctx.actor)?.id
  for (const user of users) {
    if (user.id === me) continue
    const open =
      project.visibility === 'public' || (project.visibility === 'internal' && user.external === 0)
    if (!open && (await findProjectRole(ctx.db, user.id, project.id, dayOf(ctx.now()))) === 0)
      continue
    const action = addressed.has(user.username) ? 'directly_addressed' : 'mentioned'
    await addTodos(ctx, target, action, [user.id], noteId)
  }
}
