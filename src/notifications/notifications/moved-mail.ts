import { userOf } from '../../access/actor.ts'
import { findProjectWithRole } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { ProjectChange } from '../../projects/effects.ts'
import { mailFollowers } from './mail-followers.ts'

/** Mails those who follow a project that its address is another. */
export async function mailMove(ctx: Ctx, { id, change, oldPath }: ProjectChange): Promise<void> {
  if ((change !== 'rename' && change !== 'transfer') || oldPath === undefined) return
  const project = await findProjectWithRole(ctx, id)
  if (!project || project.full_path === oldPath) return
  const url = `${ctx.config.externalUrl}/${project.full_path}`
  await mailFollowers(
    ctx,
    project,
    'moved_project',
    { part: [], author: userOf(ctx.actor)?.id ?? null, ability: 'read_project' },
    {
      subject: `${project.name} | Project was moved`,
      text: `The project ${oldPath} is at ${project.full_path} now.\n\nTo let a clone follow: git remote set-url origin ${url}.git\n\n${url}\n`,
      key: `moved-${project.id}-${ctx.now()}`,
    },
  )
}
