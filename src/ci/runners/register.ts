import { userOf } from '../../access/actor.ts'
import { planLimit } from '../../access/plan-limits.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { countOwnRunners, insertRunner, type RunnerRow } from './queries.ts'
import { newRunnerSecret } from './runner-token.ts'

/** What may be set of a runner. */
export interface RunnerSettings {
  readonly description?: string | null | undefined
  readonly maintenance_note?: string | null | undefined
  readonly paused?: boolean | undefined
  readonly active?: boolean | undefined
  readonly locked?: boolean | undefined
  readonly run_untagged?: boolean | undefined
  readonly access_level?: RunnerRow['access_level'] | undefined
  readonly maximum_timeout?: number | null | undefined
  readonly tag_list?: readonly string[] | undefined
}

const LONGEST_NOTE = 1024
const LEAST_TIMEOUT = 600

/** The columns that settings change; refuses what does not go together (docs/contract/B-resolved §6, D §1.23). */
export function runnerColumns(
  settings: RunnerSettings,
  before: Pick<RunnerRow, 'tags' | 'run_untagged'> = { tags: '[]', run_untagged: 1 },
) {
  const tags = settings.tag_list ? [...new Set(settings.tag_list)] : undefined
  assertSettings(settings, tags ?? (JSON.parse(before.tags) as string[]), before.run_untagged === 1)
  const paused = settings.paused ?? (settings.active === undefined ? undefined : !settings.active)
  const columns = {
    description: settings.description,
    maintenance_note: settings.maintenance_note,
    paused,
    locked: settings.locked,
    run_untagged: settings.run_untagged,
    access_level: settings.access_level,
    maximum_timeout: settings.maximum_timeout,
    tags: tags && JSON.stringify(tags),
  }
  type Columns = { [K in keyof typeof columns]?: Exclude<(typeof columns)[K], undefined> }
  // What is not given stays as it is.
  return Object.fromEntries(
    Object.entries(columns).filter(([, value]) => value !== undefined),
  ) as Columns
}

function assertSettings(settings: RunnerSettings, tags: readonly string[], before: boolean): void {
  if ((settings.maintenance_note?.length ?? 0) > LONGEST_NOTE) {
    throw invalid({
      maintenance_note: [`is too long (maximum is ${LONGEST_NOTE} characters)`],
    })
  }
  const timeout = settings.maximum_timeout
  if (timeout != null && timeout < LEAST_TIMEOUT) {
    throw invalid({ maximum_timeout: ['needs to be at least 10 minutes'] })
  }
  if (tags.length === 0 && !(settings.run_untagged ?? before)) {
    throw invalid({
      tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'],
    })
  }
  if (tags.length > 50)
    throw invalid({ tags_list: ['Too many tags specified. Please limit the number of tags to 50'] })
}

export interface NewRunner {
  readonly type: RunnerRow['runner_type']
  readonly groupId?: number | undefined
  readonly projectId?: number | undefined
  readonly registration: RunnerRow['registration']
  readonly settings: RunnerSettings
}

/** Makes a runner; its token is shown this once. */
export async function createRunner(
  ctx: Ctx,
  given: NewRunner,
): Promise<{ readonly runner: RunnerRow; readonly token: string }> {
  const secret = newRunnerSecret(ctx)
  const runner = await inTransaction(ctx, async (ctx) => {
    await assertRoom(ctx, given)
    return await insertRunner(
      ctx.db,
      {
        runner_type: given.type,
        ...secret.columns,
        registration: given.registration,
        creator_id: userOf(ctx.actor)?.id ?? null,
        group_id: given.groupId ?? null,
        ...runnerColumns(given.settings),
        created_at: ctx.now(),
        updated_at: ctx.now(),
      },
      given.projectId,
    )
  })
  return { runner, token: secret.token }
}

/** A group and a project may have as many runners of their own as the plan allows; 0 is no limit. */
async function assertRoom(ctx: Ctx, { groupId, projectId }: NewRunner): Promise<void> {
  if (groupId === undefined && projectId === undefined) return
  const [kind, limit] =
    groupId === undefined
      ? (['project', 'ci_registered_project_runners'] as const)
      : (['group', 'ci_registered_group_runners'] as const)
  const most = planLimit(ctx.settings, limit)
  if (most === 0 || (await countOwnRunners(ctx.db, { groupId, projectId })) < most) return
  throw invalid({ base: [`Maximum number of ci registered ${kind} runners (${most}) exceeded`] })
}
