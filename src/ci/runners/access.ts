import { isAdmin, userOf } from '../../access/actor.ts'
import { mayInGroup, mayInProject } from '../../access/decide.ts'
import {
  type Access,
  findVisibleGroup,
  findVisibleProject,
  signedIn,
} from '../../access/subjects.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { findRunner, listRunnerProjects, type RunnerRow } from './queries.ts'

const params = { runner_id: id() }

/**
 * The runner of `:runner_id` for those who look after it: administrators, who made it, Owners of its group, Maintainers of
 * one of its projects (docs/contract/D §1.23).
 */
export function onRunner(): Access<{ readonly runner: RunnerRow }, 'runner_id'> {
  return {
    ...signedIn(),
    kind: 'custom',
    needs: 'admin_runners',
    params,
    async find(request) {
      return { runner: await runnerLookedAfter(request.ctx, request.read(params).runner_id) }
    },
  }
}

/** The runner of an id for a caller who looks after it: 404, then 403. */
export async function runnerLookedAfter(ctx: Ctx, runnerId: number): Promise<RunnerRow> {
  const runner = await findRunner(ctx.db, runnerId)
  if (!runner) throw notFound('Runner')
  if (await looksAfter(ctx, runner)) return runner
  throw forbidden('No access granted')
}

async function looksAfter(ctx: Ctx, runner: RunnerRow): Promise<boolean> {
  if (isAdmin(ctx.actor)) return true
  if (runner.runner_type === 'instance_type') return false
  if (runner.group_id !== null) {
    const group = await findVisibleGroup(ctx, String(runner.group_id))
    return group !== undefined && mayInGroup(ctx.actor, group, 'admin_runners')
  }
  if (userOf(ctx.actor) === null) return false
  for (const { id } of await listRunnerProjects(ctx.db, runner.id)) {
    const project = await findVisibleProject(ctx, String(id))
    if (project && mayInProject(ctx.actor, project, 'admin_runners')) return true
  }
  return false
}
