import { z } from 'zod'
import { presentProjectIdentity, projectIdentity } from '../../access/project-identity.ts'
import type { Source } from '../../access/sources.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { describeLabels } from '../labels/describe.ts'
import { labelDetailEntity, presentLabelDetail } from '../labels/entity.ts'
import { listLabelsById } from '../labels/queries.ts'
import { milestoneEntity } from '../milestones/entity.ts'
import { presentMilestonesById } from '../milestones/verbs.ts'
import { type BoardRow, type ListRow, listLabelsOfBoards, listListsOf } from './queries.ts'

export const listEntity = z.strictObject({
  id: z.int(),
  list_type: z.enum(['label', 'assignee', 'milestone']),
  label: labelDetailEntity.nullable(),
  assignee: userBasicEntity.optional(),
  milestone: milestoneEntity.optional(),
  position: z.int(),
  max_issue_count: z.int(),
  max_issue_weight: z.int(),
  limit_metric: z.null(),
})

export const boardEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  hide_backlog_list: z.boolean(),
  hide_closed_list: z.boolean(),
  project: z
    .strictObject({
      ...projectIdentity,
      http_url_to_repo: z.string(),
      web_url: z.string(),
    })
    .nullable(),
  group: z.strictObject({ id: z.int(), name: z.string(), web_url: z.string() }).nullable(),
  milestone: milestoneEntity.nullable(),
  assignee: userBasicEntity.nullable(),
  labels: z.array(labelDetailEntity),
  weight: z.int().nullable(),
  lists: z.array(listEntity),
})

type List = z.input<typeof listEntity>
type Board = z.input<typeof boardEntity>

/** The people and milestones that boards or lists are about. */
async function scopeOf(ctx: Ctx, rows: readonly Pick<ListRow, 'assignee_id' | 'milestone_id'>[]) {
  const people = await usersById(
    ctx,
    rows.map((row) => row.assignee_id),
  )
  const milestones = await presentMilestonesById(
    ctx,
    rows.flatMap((row) => row.milestone_id ?? []),
  )
  return { people, milestones }
}

/** Lists for the wire; what they stand for is read for all at once. */
export async function presentLists(ctx: Ctx, rows: readonly ListRow[]): Promise<List[]> {
  const labels = await listLabelsById(
    ctx.db,
    rows.flatMap((row) => row.label_id ?? []),
  )
  const descriptions = await describeLabels(ctx, labels)
  const { people, milestones } = await scopeOf(ctx, rows)
  return rows.map((row) => {
    const label = labels.find((one) => one.id === row.label_id)
    const person = people.get(row.assignee_id ?? 0)
    const milestone = milestones.get(row.milestone_id ?? 0)
    return {
      id: row.id,
      list_type: person ? 'assignee' : milestone ? 'milestone' : 'label',
      label: label ? presentLabelDetail(label, descriptions) : null,
      ...(person ? { assignee: person } : {}),
      ...(milestone ? { milestone } : {}),
      position: row.position,
      max_issue_count: 0,
      max_issue_weight: 0,
      limit_metric: null,
    }
  })
}

/** Boards with their lists (docs/contract/D §1.2 boards). */
export async function presentBoards(
  ctx: Ctx,
  owner: Source,
  rows: readonly BoardRow[],
): Promise<Board[]> {
  const ids = rows.map((row) => row.id)
  const listRows = await listListsOf(ctx.db, ids)
  const lists = await presentLists(ctx, listRows)
  const labels = await listLabelsOfBoards(ctx.db, ids)
  const descriptions = await describeLabels(ctx, labels)
  const { people, milestones } = await scopeOf(ctx, rows)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hide_backlog_list: row.hide_backlog_list === 1,
    hide_closed_list: row.hide_closed_list === 1,
    ...ownerParts(ctx, owner),
    milestone: milestones.get(row.milestone_id ?? 0) ?? null,
    assignee: people.get(row.assignee_id ?? 0) ?? null,
    labels: labels
      .filter((one) => one.board_id === row.id)
      .map((label) => presentLabelDetail(label, descriptions)),
    weight: row.weight,
    lists: lists.filter((_, at) => listRows[at]?.board_id === row.id),
  }))
}

function ownerParts(ctx: Ctx, owner: Source): Pick<Board, 'project' | 'group'> {
  const { externalUrl } = ctx.config
  const { id, name } = owner
  if (owner.type === 'group') {
    return {
      project: null,
      group: { id, name, web_url: `${externalUrl}/groups/${owner.full_path}` },
    }
  }
  const url = `${externalUrl}/${owner.full_path}`
  const project = {
    ...presentProjectIdentity(owner),
    http_url_to_repo: `${url}.git`,
    web_url: url,
  }
  return { project, group: null }
}
