import { z } from 'zod'
import {
  assertMayInGroup,
  type Group,
  getVisibleGroup,
  onGroup,
  onProject,
  type Project,
} from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { badParameters, badRequest, forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, integer, text } from '../../http/params.ts'
import { setSubscribed, subscribedAmong } from '../subscriptions/subscribe.ts'
import { countsByLabel } from './count-queries.ts'
import { describeLabels } from './describe.ts'
import { labelEntity, presentLabel } from './entity.ts'
import {
  deleteLabel,
  findLabel,
  type LabelFilter,
  type LabelPlace,
  listLabelRows,
} from './queries.ts'
import { changeLabel, createLabel, promoteLabel } from './verbs.ts'

const tags = ['labels']
const labelParams = { label_id: text() }
const fields = {
  description: text({ max: 500_000 }).nullish(),
  archived: flag().optional(),
  priority: integer({ min: 0 }).nullish(),
}
const createBody = { ...fields, name: text(), color: text() }
const changeBody = { ...fields, new_name: text().optional(), color: text().optional() }
const listQuery = {
  with_counts: flag().optional(),
  include_ancestor_groups: flag().optional(),
  search: text().optional(),
  archived: flag().optional(),
}

type Found = NonNullable<Awaited<ReturnType<typeof findLabel>>>

function placeOf(subject: { project: Project } | { group: Group }): LabelPlace {
  return 'project' in subject
    ? { projectId: subject.project.id, namespaceId: subject.project.namespace_id }
    : { namespaceId: subject.group.id }
}

async function getLabel(
  ctx: Ctx,
  place: LabelPlace,
  idOrTitle: string,
  ancestors = true,
): Promise<Found> {
  const row = await findLabel(ctx.db, place, idOrTitle, ancestors)
  if (!row) throw notFound('Label')
  return row
}

/** Labels are changed where they belong: a project does not change its group's. */
function assertOwned(place: LabelPlace, row: Found): void {
  const owned =
    place.projectId === undefined ? row.group_id === place.namespaceId : row.project_id !== null
  if (!owned) throw forbidden()
}

async function presentOne(ctx: Ctx, row: Parameters<typeof presentLabel>[0]) {
  const subscribed = await subscribedAmong(ctx, 'label', [row.id])
  return presentLabel(row, await describeLabels(ctx, [row]), subscribed.has(row.id), undefined)
}

async function list(
  ctx: Ctx,
  place: LabelPlace,
  asked: LabelFilter & { readonly counts: boolean | undefined },
  page: OffsetPage,
) {
  const rows = await listLabelRows(ctx.db, place, asked, page)
  const ids = rows.items.map((row) => row.id)
  const subscribed = await subscribedAmong(ctx, 'label', ids)
  const viewer = viewerOf(ctx.actor, dayOf(ctx.now()))
  const counts = asked.counts ? await countsByLabel(ctx.db, viewer, place, ids) : undefined
  const descriptions = await describeLabels(ctx, rows.items)
  const items = rows.items.map((row) =>
    presentLabel(row, descriptions, subscribed.has(row.id), counts?.get(row.id)),
  )
  return { ...rows, items }
}

async function change(
  ctx: Ctx,
  place: LabelPlace,
  idOrTitle: string,
  given: {
    new_name?: string | undefined
    color?: string | undefined
    description?: string | null | undefined
    priority?: number | null | undefined
    archived?: boolean | undefined
  },
) {
  const row = await getLabel(ctx, place, idOrTitle)
  const { new_name: name, ...rest } = given
  const onlyPriority =
    name === undefined &&
    rest.color === undefined &&
    rest.description === undefined &&
    rest.archived === undefined
  if (onlyPriority && rest.priority === undefined) {
    throw badParameters(
      'new_name, color, description, priority, archived are missing, at least one parameter must be provided',
    )
  }
  if (!onlyPriority) assertOwned(place, row)
  return presentOne(ctx, await changeLabel(ctx, place, row.id, { name, ...rest }))
}

async function remove(ctx: Ctx, place: LabelPlace, idOrTitle: string): Promise<void> {
  const row = await getLabel(ctx, place, idOrTitle)
  assertOwned(place, row)
  await deleteLabel(ctx.db, row.id)
}

/** The label that a request without one in its path means: `label_id` or `name` (python-gitlab saves this way). */
function named(given: { label_id?: string | undefined; name?: string | undefined }): string {
  const found = given.label_id ?? given.name
  if (found === undefined)
    throw badParameters('label_id, name are missing, at least one parameter must be provided')
  return found
}

const selector = { label_id: text().optional(), name: text().optional() }

export const listProjectLabels = endpoint({
  method: 'GET',
  path: '/projects/:id/labels',
  summary: 'List the labels of a project and of its groups',
  tags,
  access: onProject('read_labels'),
  query: listQuery,
  paginate: 'offset',
  response: z.array(labelEntity),
  async handler({ ctx, project, query, page }) {
    const filter = {
      ...query,
      ancestors: query.include_ancestor_groups ?? true,
      descendants: false,
    }
    return list(ctx, placeOf({ project }), { ...filter, counts: query.with_counts }, page)
  },
})

export const createProjectLabel = endpoint({
  method: 'POST',
  path: '/projects/:id/labels',
  summary: 'Create a label in a project',
  tags,
  access: onProject('admin_label'),
  body: createBody,
  response: labelEntity,
  status: 201,
  handler: async ({ ctx, project, body }) =>
    presentOne(ctx, await createLabel(ctx, placeOf({ project }), body)),
})

export const updateProjectLabelByName = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels',
  summary: 'Change the label of a project that the body names',
  tags,
  access: onProject('admin_label'),
  body: { ...selector, ...changeBody },
  response: labelEntity,
  handler({ ctx, project, body: { label_id, name, ...changes } }) {
    return change(ctx, placeOf({ project }), named({ label_id, name }), changes)
  },
})

export const deleteProjectLabelByName = endpoint({
  method: 'DELETE',
  path: '/projects/:id/labels',
  summary: 'Delete the label of a project that the request names',
  tags,
  access: onProject('admin_label'),
  query: selector,
  handler: ({ ctx, project, query }) => remove(ctx, placeOf({ project }), named(query)),
})

export const getProjectLabel = endpoint({
  method: 'GET',
  path: '/projects/:id/labels/:label_id',
  summary: 'Get a label by id or title',
  tags,
  access: onProject('read_labels'),
  params: labelParams,
  query: { include_ancestor_groups: flag().optional() },
  response: labelEntity,
  async handler({ ctx, project, params, query }) {
    const ancestors = query.include_ancestor_groups ?? true
    return presentOne(ctx, await getLabel(ctx, placeOf({ project }), params.label_id, ancestors))
  },
})

export const updateProjectLabel = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id',
  summary: 'Change a label of a project',
  tags,
  access: onProject('admin_label'),
  params: labelParams,
  body: changeBody,
  response: labelEntity,
  handler: ({ ctx, project, params, body }) =>
    change(ctx, placeOf({ project }), params.label_id, body),
})

export const deleteProjectLabel = endpoint({
  method: 'DELETE',
  path: '/projects/:id/labels/:label_id',
  summary: 'Delete a label of a project',
  tags,
  access: onProject('admin_label'),
  params: labelParams,
  handler: ({ ctx, project, params }) => remove(ctx, placeOf({ project }), params.label_id),
})

export const promoteProjectLabel = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id/promote',
  summary: 'Make a project label one of its group',
  tags,
  access: onProject('admin_label'),
  params: labelParams,
  response: labelEntity,
  async handler({ ctx, project, params }) {
    const row = await getLabel(ctx, placeOf({ project }), params.label_id)
    if (project.namespace_kind !== 'group')
      throw badRequest('Failed to promote project label to group label')
    const group = await getVisibleGroup(ctx, String(project.namespace_id))
    assertMayInGroup(ctx, group, 'admin_label')
    if (row.project_id === null) throw badRequest('Failed to promote project label to group label')
    return presentOne(ctx, await promoteLabel(ctx, group, row))
  },
})

export const subscribeProjectLabel = endpoint({
  method: 'POST',
  path: '/projects/:id/labels/:label_id/subscribe',
  summary: 'Hear of what carries a label',
  tags,
  access: onProject('read_labels', { signedIn: true }),
  params: labelParams,
  response: labelEntity,
  status: 201,
  async handler({ ctx, project, params }) {
    const row = await getLabel(ctx, placeOf({ project }), params.label_id)
    await setSubscribed(ctx, 'label', row.id, true)
    return presentOne(ctx, row)
  },
})

export const unsubscribeProjectLabel = endpoint({
  method: 'POST',
  path: '/projects/:id/labels/:label_id/unsubscribe',
  summary: 'Hear no more of what carries a label',
  tags,
  access: onProject('read_labels', { signedIn: true }),
  params: labelParams,
  response: labelEntity,
  status: 201,
  async handler({ ctx, project, params }) {
    const row = await getLabel(ctx, placeOf({ project }), params.label_id)
    await setSubscribed(ctx, 'label', row.id, false)
    return presentOne(ctx, row)
  },
})

export const listGroupLabels = endpoint({
  method: 'GET',
  path: '/groups/:id/labels',
  summary: 'List the labels of a group',
  tags,
  access: onGroup('read_labels'),
  query: {
    ...listQuery,
    include_descendant_groups: flag().optional(),
    only_group_labels: flag().optional(),
  },
  paginate: 'offset',
  response: z.array(labelEntity),
  async handler({ ctx, group, query, page }) {
    const filter = {
      ...query,
      ancestors: query.include_ancestor_groups ?? true,
      descendants: query.include_descendant_groups ?? false,
    }
    return list(ctx, placeOf({ group }), { ...filter, counts: query.with_counts }, page)
  },
})

export const createGroupLabel = endpoint({
  method: 'POST',
  path: '/groups/:id/labels',
  summary: 'Create a label in a group',
  tags,
  access: onGroup('admin_label'),
  body: createBody,
  response: labelEntity,
  status: 201,
  handler: async ({ ctx, group, body }) =>
    presentOne(ctx, await createLabel(ctx, placeOf({ group }), body)),
})

export const updateGroupLabelByName = endpoint({
  method: 'PUT',
  path: '/groups/:id/labels',
  summary: 'Change the label of a group that the body names',
  tags,
  access: onGroup('admin_label'),
  body: { ...selector, ...changeBody },
  response: labelEntity,
  handler({ ctx, group, body: { label_id, name, ...changes } }) {
    return change(ctx, placeOf({ group }), named({ label_id, name }), changes)
  },
})

export const deleteGroupLabelByName = endpoint({
  method: 'DELETE',
  path: '/groups/:id/labels',
  summary: 'Delete the label of a group that the request names',
  tags,
  access: onGroup('admin_label'),
  query: selector,
  handler: ({ ctx, group, query }) => remove(ctx, placeOf({ group }), named(query)),
})

export const getGroupLabel = endpoint({
  method: 'GET',
  path: '/groups/:id/labels/:label_id',
  summary: 'Get a label of a group by id or title',
  tags,
  access: onGroup('read_labels'),
  params: labelParams,
  response: labelEntity,
  handler: async ({ ctx, group, params }) =>
    presentOne(ctx, await getLabel(ctx, placeOf({ group }), params.label_id)),
})

export const updateGroupLabel = endpoint({
  method: 'PUT',
  path: '/groups/:id/labels/:label_id',
  summary: 'Change a label of a group',
  tags,
  access: onGroup('admin_label'),
  params: labelParams,
  body: changeBody,
  response: labelEntity,
  handler: ({ ctx, group, params, body }) => change(ctx, placeOf({ group }), params.label_id, body),
})

export const deleteGroupLabel = endpoint({
  method: 'DELETE',
  path: '/groups/:id/labels/:label_id',
  summary: 'Delete a label of a group',
  tags,
  access: onGroup('admin_label'),
  params: labelParams,
  handler: ({ ctx, group, params }) => remove(ctx, placeOf({ group }), params.label_id),
})
