import { z } from 'zod'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { countBillable } from '../members/hierarchy-queries.ts'
import { type NamespaceBriefRow, namespaceBriefEntity, presentNamespaceBrief } from './entity.ts'
import { listAdministered, listTotals } from './queries.ts'

/** A namespace in its own lists; what only its administrators may know is left out for others. */
export const namespaceEntity = namespaceBriefEntity.extend({
  members_count_with_descendants: z.int().optional(),
  root_repository_size: z.int().optional(),
  projects_count: z.int().optional(),
  billable_members_count: z.int().nullable(),
  plan: z.string().optional(),
  end_date: z.string().nullable().optional(),
  trial_ends_on: z.string().nullable().optional(),
  trial: z.boolean().optional(),
})

/** Namespaces as the caller may see them, in the order given. */
export async function presentNamespaces(
  ctx: Ctx,
  rows: readonly NamespaceBriefRow[],
): Promise<z.input<typeof namespaceEntity>[]> {
  if (rows.length === 0) return []
  const viewer = viewerOf(ctx)
  const ids = rows.map((row) => row.id)
  const today = dayOf(ctx.now())
  const administered = await listAdministered(ctx.db, viewer, ids)
  const totals = new Map(
    administered.size === 0
      ? []
      : (await listTotals(ctx.db, [...administered], today)).map((one) => [one.id, one]),
  )
  const shown: z.input<typeof namespaceEntity>[] = []
  for (const row of rows) {
    const total = totals.get(row.id)
    const top = row.kind === 'group' && row.parent_id === null
    shown.push({
      ...presentNamespaceBrief(ctx, row),
      ...(total && row.kind === 'group' ? { members_count_with_descendants: total.members } : {}),
      ...(total ? { root_repository_size: total.size, projects_count: total.projects } : {}),
      billable_members_count: total && top ? await countBillable(ctx.db, row.id, today) : null,
      ...(total ? { plan: 'default', end_date: null, trial_ends_on: null, trial: false } : {}),
    })
  }
  return shown
}
