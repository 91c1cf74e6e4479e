import { isAdmin, userOf } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { mayInGroup, mayInProject } from '../../access/decide.ts'
import {
  type Access,
  findVisibleGroup,
  findVisibleProject,
  getVisibleGroup,
  getVisibleProject,
  signedIn,
} from '../../access/subjects.ts'
import { badParameters, forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { findRunner, listRunnerProjects, type RunnerRow } from './queries.ts'

const params = { runner_id: id() }

/** Tokens that assign, change and delete runners (docs/contract/A-resolved §7). */
export const MANAGE_SCOPES = ['api', 'manage_runner'] as const

/** To look at runners and to take them away, or to add and change them, which archived projects and groups do not take. */
type RunnerAbility = 'admin_runners' | 'change_runners'

/**
 * The runner of `:runner_id` for those who look after it: administrators, Owners of its group, Maintainers of one of its
 * projects (docs/contract/D §1.23).
 */
export function onRunner(
  ability: RunnerAbility = 'admin_runners',
): Access<{ readonly runner: RunnerRow }, 'runner_id'> {
  return {
    ...signedIn(),
    kind: 'custom',
    needs: ability,
    params,
    async find(request) {
      const { runner_id: runnerId } = request.read(params)
      return { runner: await runnerLookedAfter(request.ctx, runnerId, ability) }
    },
  }
}

/** The runner of an id for a caller who looks after it: 404, then 403. */
export async function runnerLookedAfter(
  ctx: Ctx,
  runnerId: number,
  ability: RunnerAbility = 'admin_runners',
): Promise<RunnerRow> {
  const runner = await findRunner(ctx.db, runnerId)
  if (!runner) throw notFound('Runner')
  if (await looksAfter(ctx, runner, ability)) return runner
  throw forbidden('No access granted')
}

async function looksAfter(ctx: Ctx, runner: RunnerRow, ability: RunnerAbility): Promise<boolean> {
  if (isAdmin(ctx.actor)) return true
  if (runner.runner_type === 'instance_type') return false
  if (runner.group_id !== null) {
    const group = await findVisibleGroup(ctx, String(runner.group_id))
    return group !== undefined && mayInGroup(ctx.actor, group, ability)
  }
  if (userOf(ctx.actor) === null) return false
  for (const { id } of await listRunnerProjects(ctx.db, runner.id)) {
    const project = await findVisibleProject(ctx, String(id))
    if (project && mayInProject(ctx.actor, project, ability)) return true
  }
  return false
}

/** What a new runner is for. */
export interface WantedRunner {
  readonly runner_type: 'instance_type' | 'group_type' | 'project_type'
  readonly group_id?: number | undefined
  readonly project_id?: number | undefined
}

interface Wanting {
  readonly ctx: Ctx
  readonly body: WantedRunner
}

/** Administrators make runners of the instance, Owners those of a group, Maintainers those of a project. */
export const looksAfterPlace: Condition<Wanting> = condition(
  'runner_type: admin, or change_runners of the group or project',
  async ({ ctx, body: { runner_type, group_id, project_id } }) => {
    if (runner_type === 'instance_type') return isAdmin(ctx.actor) || forbidden()
    if (runner_type === 'group_type') {
      if (group_id === undefined) return badParameters('group_id is missing')
      const group = await getVisibleGroup(ctx, String(group_id))
      return mayInGroup(ctx.actor, group, 'change_runners') || forbidden()
    }
    if (project_id === undefined) return badParameters('project_id is missing')
    const project = await getVisibleProject(ctx, String(project_id))
    return mayInProject(ctx.actor, project, 'change_runners') || forbidden()
  },
)
