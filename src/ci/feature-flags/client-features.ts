import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { scopeFit } from '../environments/scope-fit.ts'
import { presentFlags } from './entity.ts'
import { listAllFlags } from './queries.ts'

/** The flags of one environment in the words of Unleash clients. */
export const clientFeaturesEntity = z.strictObject({
  version: z.literal(1),
  features: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string().optional(),
      enabled: z.boolean(),
      strategies: z.array(
        z.strictObject({ name: z.string(), parameters: z.record(z.string(), z.string()) }),
      ),
    }),
  ),
})

type Flag = Awaited<ReturnType<typeof presentFlags>>[number]

/** What programs of an environment get; flags without a strategy for it are left out. */
export async function listClientFeatures(
  ctx: Ctx,
  projectId: number,
  environment: string | undefined,
): Promise<z.input<typeof clientFeaturesEntity>> {
  const flags = await presentFlags(ctx, projectId, await listAllFlags(ctx.db, projectId))
  const features = flags.flatMap((flag) => {
    const strategies = flag.strategies.filter(({ scopes }) =>
      scopes.some((scope) => scopeFit(scope.environment_scope, environment) !== undefined),
    )
    return strategies.length === 0 ? [] : [presentFeature(flag, strategies)]
  })
  return { version: 1, features }
}

function presentFeature(flag: Flag, strategies: Flag['strategies']) {
  return {
    name: flag.name,
    ...(flag.description === null ? {} : { description: flag.description }),
    enabled: flag.active,
    strategies: strategies.map(({ name, parameters, user_list }) =>
      // Clients know no lists of ours: they get the users themselves.
      name === 'gitlabUserList'
        ? { name: 'userWithId', parameters: { userIds: user_list?.user_xids ?? '' } }
        : { name, parameters },
    ),
  }
}
