import { dayOf } from '../../base/clock.ts'
import { runEffects } from '../../base/effects.ts'
import { existing, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { nextIid } from '../../store/iid.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import { mergeUses } from '../group-owned-queries.ts'
import type { Place } from '../place.ts'
import { type MilestoneRow, presentMilestone } from './entity.ts'
import {
  deleteMilestone,
  findMilestone,
  insertMilestone,
  listMilestonesById,
  listMilestonesByTitle,
  listProjectMilestonesBelow,
  updateMilestone,
} from './queries.ts'

const alreadyUsed = () => taken('title')
const uniques = {
  'milestones.project_id, milestones.title': alreadyUsed,
  'milestones.group_id, milestones.title': alreadyUsed,
}

export interface MilestoneInput {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly start_date?: string | null | undefined
  readonly due_date?: string | null | undefined
  readonly state_event?: 'close' | 'activate' | undefined
}

function assertDates(start: string | null | undefined, due: string | null | undefined): void {
  if (start && due && due < start) throw invalid({ due_date: ['must be greater than start date'] })
}

/** Titles are one namespace over a group, the groups above it and the projects below (docs/contract/D §1.13). */
async function assertTitleFree(
  ctx: Ctx,
  place: Place,
  title: string,
  ownId?: number,
): Promise<void> {
  if (title.trim() === '') throw invalid({ title: ["can't be blank"] })
  const below =
    place.projectId === undefined
      ? await listProjectMilestonesBelow(ctx.db, place.namespaceId, title)
      : []
  const duplicates = [...below, ...(await listMilestonesByTitle(ctx.db, place, [title]))]
  if (duplicates.some((duplicate) => duplicate.id !== ownId)) throw alreadyUsed()
}

/** Creates a milestone of a project or group. */
export async function createMilestone(
  ctx: Ctx,
  place: Place,
  input: MilestoneInput & { title: string },
) {
  assertDates(input.start_date, input.due_date)
  const { description, start_date, due_date } = input
  const title = input.title.trim()
  return inTransaction(ctx, async (ctx) => {
    await assertTitleFree(ctx, place, title)
    const scope = place.projectId === undefined ? 'group' : 'project'
    const iid = await nextIid(ctx.db, place.projectId ?? place.namespaceId, 'milestone', scope)
    const values = { iid, title, description, start_date, due_date }
    const id = await uniquely(uniques, () => insertMilestone(ctx.db, place, values, ctx.now()))
    const row = await getMilestone(ctx, place, id)
    await notify(ctx, place, row, 'create')
    return row
  })
}

/** A milestone of exactly this project or group, or 404. */
export async function getMilestone(ctx: Ctx, place: Place, id: number): Promise<MilestoneRow> {
  return existing(await findMilestone(ctx.db, place, id), 'Milestone')
}

/** Changes what the input names; null clears. */
export async function changeMilestone(
  ctx: Ctx,
  place: Place,
  { id }: Pick<MilestoneRow, 'id'>,
  input: MilestoneInput,
) {
  await inTransaction(ctx, async (ctx) => {
    // Read inside: another change may have moved the other day, or closed it, a moment ago.
    const row = await getMilestone(ctx, place, id)
    const changes = changesOf(input)
    const after = { ...row, ...changes }
    assertDates(after.start_date, after.due_date)
    if (changes.title !== undefined) await assertTitleFree(ctx, place, changes.title, id)
    await uniquely(uniques, () => updateMilestone(ctx.db, id, changes, ctx.now()))
    if (after.state === row.state) return
    const action = after.state === 'closed' ? 'close' : 'reopen'
    await notify(ctx, place, await getMilestone(ctx, place, id), action)
  })
  return getMilestone(ctx, place, id)
}

/** Without what was not sent. */
function changesOf({ title, description, start_date, due_date, state_event }: MilestoneInput) {
  return {
    ...(title === undefined ? {} : { title: title.trim() }),
    ...(description === undefined ? {} : { description }),
    ...(start_date === undefined ? {} : { start_date }),
    ...(due_date === undefined ? {} : { due_date }),
    ...(state_event === undefined ? {} : { state: states[state_event] }),
  }
}

const states = { close: 'closed', activate: 'active' } as const

const feedWords = {
  create: 'opened',
  close: 'closed',
  reopen: 'reopened',
  delete: 'destroyed',
} as const

/** Notifies the hooks, and the feed of a project. */
async function notify(
  ctx: Ctx,
  place: Place,
  row: MilestoneRow,
  action: keyof typeof feedWords,
): Promise<void> {
  await runEffects(ctx, ctx.effects.milestoneChanged, { place, row, action })
  if (row.project_id === null) return
  await runEffects(ctx, ctx.effects.activity, {
    projectId: row.project_id,
    action: feedWords[action],
    targetType: 'Milestone',
    targetId: row.id,
    targetIid: row.iid,
    targetTitle: row.title,
  })
}

/** Deletes a milestone; what was planned for it has none from then on. */
export async function removeMilestone(
  ctx: Ctx,
  place: Place,
  { id }: Pick<MilestoneRow, 'id'>,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await notify(ctx, place, await getMilestone(ctx, place, id), 'delete')
    await deleteMilestone(ctx.db, id)
  })
}

/** Makes a project's milestone one of its group: those of the same title in projects below give way to it. */
export async function promoteMilestone(ctx: Ctx, groupId: number, row: MilestoneRow) {
  await inTransaction(ctx, async (ctx) => {
    const duplicates = (await listProjectMilestonesBelow(ctx.db, groupId, row.title))
      .map((one) => one.id)
      .filter((id) => id !== row.id)
    await mergeUses(ctx.db, 'milestone', duplicates, row.id)
    for (const id of duplicates) await deleteMilestone(ctx.db, id)
    const iid = await nextIid(ctx.db, groupId, 'milestone', 'group')
    const changes = { project_id: null, group_id: groupId, iid } as const
    await uniquely(uniques, () => updateMilestone(ctx.db, row.id, changes, ctx.now()))
  })
  return getMilestone(ctx, { namespaceId: groupId }, row.id)
}

/** Milestones by id, ready for the wire. */
export async function presentMilestonesById(ctx: Ctx, ids: readonly number[]) {
  const rows = await listMilestonesById(ctx.db, [...new Set(ids)])
  const today = dayOf(ctx.now())
  return new Map(rows.map((row) => [row.id, presentMilestone(row, ctx.config.externalUrl, today)]))
}

/** The id of the milestone of the same title that a project may use, made if there is none. */
export async function milestoneLike(
  ctx: Ctx,
  place: Place & { readonly projectId: number },
  one: Pick<MilestoneRow, 'title' | 'description' | 'start_date' | 'due_date' | 'state'>,
): Promise<number> {
  const [known] = await listMilestonesByTitle(ctx.db, place, [one.title])
  if (known) return known.id
  const iid = await nextIid(ctx.db, place.projectId, 'milestone')
  const { title, description, start_date, due_date, state } = one
  const values = { iid, title, description, start_date, due_date, state }
  return insertMilestone(ctx.db, place, values, ctx.now())
}
