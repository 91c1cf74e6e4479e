import { isAdmin } from '../../access/actor.ts'
import { condition } from '../../access/conditions.ts'
import { projectRecord } from '../../access/records.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { findRemoteMirror } from './queries.ts'

/** The server of `:mirror_id` that the project is pushed to. */
export const onRemoteMirror = projectRecord('admin_project', {
  params: { mirror_id: id() },
  async find({ ctx, project, params }) {
    const mirror = await findRemoteMirror(ctx.db, params.mirror_id)
    if (mirror?.project_id !== project.id) throw notFound()
    return { mirror }
  },
  updatedAt: ({ mirror }) => mirror.updated_at,
})

/** Administrators may keep mirrors to themselves. */
export function mayMirror({ settings, actor }: Pick<Ctx, 'settings' | 'actor'>): boolean {
  return settings.get('mirror_available') || isAdmin(actor)
}

export const mirrorsAvailable = condition<{ readonly ctx: Ctx }>(
  'mirror_available, or admin',
  ({ ctx }) => mayMirror(ctx) || forbidden(),
)
