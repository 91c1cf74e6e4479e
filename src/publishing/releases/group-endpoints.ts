import { z } from 'zod'
import { findProjectById } from '../../access/find-queries.ts'
import { onGroup, withProjectRole } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { oneOf } from '../../http/params.ts'
import { releaseEntity } from './entity.ts'
import { presentReleases } from './present.ts'
import { listGroupReleaseRows, type ReleaseRow } from './queries.ts'

/** Releases of several projects, in the order given; those of one project are read together. */
async function presentMixed(ctx: Ctx, rows: readonly ReleaseRow[]) {
  const byId = new Map<number, z.input<typeof releaseEntity>>()
  for (const projectId of new Set(rows.map((row) => row.project_id))) {
    const found = await findProjectById(ctx.db, projectId)
    if (!found) continue
    const own = rows.filter((row) => row.project_id === projectId)
    const presented = await presentReleases(ctx, await withProjectRole(ctx, found), own)
    for (const [at, row] of own.entries()) {
      const release = presented[at]
      if (release) byId.set(row.id, release)
    }
  }
  return rows.flatMap((row) => byId.get(row.id) ?? [])
}

export const listGroupReleases = endpoint({
  method: 'GET',
  path: '/groups/:id/releases',
  summary: 'List the releases of the projects of a group',
  access: onGroup('read_group'),
  query: { sort: oneOf(['asc', 'desc']).optional() },
  paginate: 'offset',
  response: z.array(releaseEntity),
  async handler({ ctx, group, query, page }) {
    const viewer = viewerOf(ctx)
    const filter = { orderBy: 'released_at', sort: query.sort ?? 'desc' } as const
    const rows = await listGroupReleaseRows(ctx.db, viewer, group.id, filter, page)
    return { ...rows, items: await presentMixed(ctx, rows.items) }
  },
})
