import { isAdmin, userOf } from '../../access/actor.ts'
import type { ProjectRow } from '../../access/find-queries.ts'
import { dayOf } from '../../base/clock.ts'
import { groupBy } from '../../base/group-by.ts'
import type { Ctx } from '../../ctx.ts'
import type { UserBasicRow } from '../../identity/users/basic.ts'
import { listUsersBasic } from '../../identity/users/basic-queries.ts'
import { listGroupLinks } from '../members/link-queries.ts'
import { type ProjectSizes, sumProjectSizes } from '../statistics/queries.ts'
import { listFacts } from './facts/queries.ts'
import { countOpenIssues, listAccess, listImageCleanups, listProjectAttributes } from './queries.ts'
import { listTopicNames } from './topics/queries.ts'

/** What a caller asked to see beside the usual. */
export interface Wanted {
  readonly simple?: boolean | undefined
  readonly statistics?: boolean | undefined
  readonly license?: boolean | undefined
  readonly customAttributes?: boolean | undefined
  /** A single read, or what creation and updates answer: shows more than lists do. */
  readonly single?: boolean | undefined
}

export type Facts = Awaited<ReturnType<typeof listFacts>>[number]

/** What a page of projects needs beyond their rows, read in a few statements for all of them. */
export interface Extras {
  readonly topics: ReadonlyMap<number, readonly string[]>
  readonly facts: ReadonlyMap<number, Facts>
  readonly owners: ReadonlyMap<number, UserBasicRow>
  readonly shared: ReadonlyMap<number, Awaited<ReturnType<typeof listGroupLinks>>>
  readonly access: ReadonlyMap<number, { project_level: number | null; group_level: number | null }>
  readonly attributes: ReadonlyMap<number, { key: string; value: string }[]>
  readonly sizes: ReadonlyMap<number, ProjectSizes>
  /** When tags of images are next deleted by themselves. */
  readonly imageCleanups: ReadonlyMap<number, string>
  readonly openIssues: ReadonlyMap<number, number>
}

export async function readExtras(
  ctx: Ctx,
  rows: readonly ProjectRow[],
  wanted: Wanted,
): Promise<Extras> {
  const ids = rows.map((row) => row.id)
  const today = dayOf(ctx.now())
  const user = userOf(ctx.actor)
  const ownerIds = [...new Set(rows.flatMap((row) => row.namespace_owner_id ?? []))]
  const full = !wanted.simple
  const topics = groupBy(await listTopicNames(ctx.db, ids), (row) => row.project_id)
  const shared = full ? await listGroupLinks(ctx.db, 'project', ids, today) : []
  const access = user && full ? await listAccess(ctx.db, user.id, ids, today) : []
  const attributes =
    wanted.customAttributes && isAdmin(ctx.actor) ? await listProjectAttributes(ctx.db, ids) : []
  const sizes = await sumProjectSizes(ctx.db, wanted.statistics ? ids : [])
  const owners = await listUsersBasic(ctx.db, ownerIds)
  const facts = await listFacts(ctx.db, ids)
  const cleanups = full ? await listImageCleanups(ctx.db, ids) : []
  const openIssues = full ? await countOpenIssues(ctx.db, ids) : []
  return {
    topics: new Map([...topics].map(([id, found]) => [id, found.map((row) => row.name)])),
    facts: new Map(facts.map((row) => [row.project_id, row])),
    owners: new Map(owners.map((row) => [row.id, row])),
    shared: groupBy(shared, (row) => row.source_id),
    access: new Map(access.map((row) => [row.id, row])),
    attributes: groupBy(attributes, (row) => row.subject_id),
    sizes,
    imageCleanups: new Map(cleanups.map((row) => [row.project_id, row.next_run_at])),
    openIssues: new Map(openIssues.map((row) => [row.project_id, row.count])),
  }
}
