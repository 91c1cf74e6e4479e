import { z } from 'zod'
import { viewerOf } from '../../access/visible-queries.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { presentRunner, runnerEntity } from './present.ts'
import { findRunner, listVisibleRunnerProjects, newestManagers } from './queries.ts'

/** A runner with all that is shown of one (docs/contract/D §1.23). */
export const runnerDetailsEntity = z.strictObject({
  ...runnerEntity.shape,
  tag_list: z.array(z.string()),
  run_untagged: z.boolean(),
  locked: z.boolean(),
  maximum_timeout: z.int().nullable(),
  access_level: z.string(),
  version: z.string().nullable(),
  revision: z.string().nullable(),
  platform: z.string().nullable(),
  architecture: z.string().nullable(),
  contacted_at: z.string().nullable(),
  maintenance_note: z.string().nullable(),
  projects: z.array(
    z.strictObject({
      id: z.int(),
      name: z.string(),
      name_with_namespace: z.string(),
      path: z.string(),
      path_with_namespace: z.string(),
    }),
  ),
  groups: z.array(z.strictObject({ id: z.int() })),
})

export async function describeRunner(
  ctx: Ctx,
  id: number,
): Promise<z.input<typeof runnerDetailsEntity>> {
  const row = await findRunner(ctx.db, id)
  if (!row) throw notFound('Runner')
  const manager = (await newestManagers(ctx.db, [id])).get(id)
  const projects = await listVisibleRunnerProjects(ctx.db, id, viewerOf(ctx))
  return {
    ...(await presentRunner(ctx, row)),
    tag_list: JSON.parse(row.tags) as string[], // written by us
    run_untagged: row.run_untagged === 1,
    locked: row.locked === 1,
    maximum_timeout: row.maximum_timeout,
    access_level: row.access_level,
    version: manager?.version ?? null,
    revision: manager?.revision ?? null,
    platform: manager?.platform ?? null,
    architecture: manager?.architecture ?? null,
    contacted_at: row.contacted_at,
    maintenance_note: row.maintenance_note,
    projects: projects.map((project) => ({
      id: project.id,
      name: project.name,
      name_with_namespace: `${project.namespace_name} / ${project.name}`,
      path: project.path,
      path_with_namespace: project.full_path,
    })),
    groups: row.group_id === null ? [] : [{ id: row.group_id }],
  }
}
