import { isAdmin } from '../../access/actor.ts'
import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import type { Visibility } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { projectSetting } from './settings.ts'

interface Changing {
  readonly ctx: Ctx
  readonly project: Project
  readonly body: { readonly visibility?: Visibility | undefined }
}

/** Another visibility takes more than the other settings; the same one may be sent along. */
export const changesVisibility: Condition<Changing> = condition(
  'visibility: change_visibility, where it changes',
  ({ ctx, project, body: { visibility } }) => {
    const changes = visibility !== undefined && visibility !== project.visibility
    return mayOr(ctx, !changes || mayInProject(ctx.actor, project, 'change_visibility'))
  },
)

/** Administrators may keep mirrors to themselves. */
export function mayMirror({ settings, actor }: Pick<Ctx, 'settings' | 'actor'>): boolean {
  return settings.get('mirror_available') || isAdmin(actor)
}

export const mirrorsAvailable = condition<{ readonly ctx: Ctx }>(
  'mirror_available, or admin',
  ({ ctx }) => mayMirror(ctx) || forbidden(),
)

interface Mirroring extends Changing {
  readonly body: Changing['body'] & { readonly mirror?: boolean | undefined }
}

/** A mirror can be switched off by whoever changes the project. */
export const switchesMirrorOn: Condition<Mirroring> = condition(
  'mirror: mirror_available, or admin, where it is switched on',
  ({ ctx, project, body: { mirror } }) =>
    !mirror || projectSetting(project, 'mirror') || mayMirror(ctx) || forbidden(),
)
