import type { Subject } from '../../../access/decide.ts'
import type { Ctx } from '../../../ctx.ts'
import { projectSetting } from '../../../projects/projects/settings.ts'
import { deployRefusal } from '../../environments/access.ts'
import type { LoadedJob } from './running.ts'

/** Why a job must not have its environment now, whether a runner or the server runs it; undefined when it may. */
export async function refusalByEnvironment(
  ctx: Ctx,
  { job, project }: LoadedJob,
): Promise<string | undefined> {
  if (job.environment === null) return undefined
  const settings = { settings: JSON.parse(project.settings) as Subject['settings'] } // written by us
  return await deployRefusal(ctx, job.id, {
    forward: projectSetting(settings, 'ci_forward_deployment_enabled'),
    rollback: projectSetting(settings, 'ci_forward_deployment_rollback_allowed'),
  })
}
