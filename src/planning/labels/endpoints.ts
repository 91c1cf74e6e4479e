import { z } from 'zod'
import { onEither } from '../../access/sources.ts'
import { onGroup, onProject } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage } from '../../base/page.ts'
import { badParameters, forbidden } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { setSubscribed, subscribedAmong } from '../../discussions/subscriptions/subscribe.ts'
import { endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { flag, integer, text } from '../../http/params.ts'
import { type Place, placeOf, placeOfProject } from '../place.ts'
import { getLabel, onLabel, onPromotedLabel } from './access.ts'
import { countsByLabel } from './count-queries.ts'
import { describeLabels } from './describe.ts'
import { labelEntity, presentLabel } from './entity.ts'
import { deleteLabel, type LabelFilter, listLabelRows } from './queries.ts'
import { changeLabel, createLabel, type LabelInput, promoteLabel } from './verbs.ts'

const fields = {
  description: text({ max: 500_000 }).nullish(),
  archived: flag().optional(),
  priority: integer({ min: 0 }).nullish(),
}
const createBody = { ...fields, name: text(), color: text() }
const changeBody = { ...fields, new_name: text().optional(), color: text().optional() }
const selector = { label_id: text().optional(), name: text().optional() }
const path = '/:source/:id/labels'
const one = '/:source/:id/labels/:label_id'
const listQuery = {
  with_counts: flag().optional(),
  include_ancestor_groups: flag().optional(),
  search: text().optional(),
  archived: flag().optional(),
}
type Label = Awaited<ReturnType<typeof getLabel>>

/** Labels are changed where they belong: a project does not change its group's. */
function assertOwned(place: Place, row: Label): void {
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
  place: Place,
  asked: LabelFilter & { readonly counts: boolean | undefined },
  page: OffsetPage,
) {
  const rows = await listLabelRows(ctx.db, place, asked, page)
  const ids = rows.items.map((row) => row.id)
  const subscribed = await subscribedAmong(ctx, 'label', ids)
  const viewer = viewerOf(ctx)
  const counts = asked.counts ? await countsByLabel(ctx.db, viewer, place, ids) : undefined
  const descriptions = await describeLabels(ctx, rows.items)
  const items = rows.items.map((row) =>
    presentLabel(row, descriptions, subscribed.has(row.id), counts?.get(row.id)),
  )
  return { ...rows, items }
}

async function change(
  ctx: Ctx,
  place: Place,
  row: Label,
  given: Omit<LabelInput, 'name'> & { readonly new_name?: string | undefined },
) {
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

async function remove(ctx: Ctx, place: Place, row: Label, request: RequestFacts): Promise<void> {
  assertOwned(place, row)
  assertUnmodifiedSince(request, row.updated_at)
  await deleteLabel(ctx.db, row.id)
}

/** The label that a request without one in its path means: `label_id` or `name` (python-gitlab saves this way). */
function named(
  ctx: Ctx,
  place: Place,
  given: z.infer<z.ZodObject<typeof selector>>,
): Promise<Label> {
  const found = given.label_id ?? given.name
  if (found === undefined)
    throw badParameters('label_id, name are missing, at least one parameter must be provided')
  return getLabel(ctx, place, found)
}

export const listProjectLabels = endpoint({
  method: 'GET',
  path: '/projects/:id/labels',
  summary: 'List the labels of a project and of the groups above it',
  access: onProject('read_labels'),
  query: listQuery,
  paginate: 'offset',
  response: z.array(labelEntity),
  handler({ ctx, project, query, page }) {
    const ancestors = query.include_ancestor_groups ?? true
    const filter = { ...query, ancestors, counts: query.with_counts }
    return list(ctx, placeOfProject(project), filter, page)
  },
})

export const listGroupLabels = endpoint({
  method: 'GET',
  path: '/groups/:id/labels',
  summary: 'List the labels of a group and of the groups above it',
  access: onGroup('read_labels'),
  query: {
    ...listQuery,
    include_descendant_groups: flag().optional(),
    only_group_labels: flag().optional(),
  },
  paginate: 'offset',
  response: z.array(labelEntity),
  handler({ ctx, group, query, page }) {
    const viewer = viewerOf(ctx)
    const filter = {
      ...query,
      ancestors: query.include_ancestor_groups ?? true,
      below: query.include_descendant_groups ? viewer : undefined,
      inProjects: query.only_group_labels === false ? viewer : undefined,
      counts: query.with_counts,
    }
    return list(ctx, { namespaceId: group.id }, filter, page)
  },
})

export const addLabel = endpoint({
  method: 'POST',
  path,
  summary: 'Create a label in a project or group',
  access: onEither('admin_label'),
  body: createBody,
  response: labelEntity,
  handler: async ({ ctx, source, body }) =>
    presentOne(ctx, await createLabel(ctx, placeOf(source), body)),
})

export const updateNamedLabel = endpoint({
  method: 'PUT',
  path,
  summary: 'Update a label of a project or group, named in the body',
  access: onEither('admin_label'),
  body: { ...selector, ...changeBody },
  response: labelEntity,
  async handler({ ctx, source, body: { label_id, name, ...changes } }) {
    const place = placeOf(source)
    return change(ctx, place, await named(ctx, place, { label_id, name }), changes)
  },
})

export const removeNamedLabel = endpoint({
  method: 'DELETE',
  path,
  summary: 'Delete a label of a project or group, named in the request',
  access: onEither('admin_label'),
  query: selector,
  async handler({ ctx, source, query, request }) {
    const place = placeOf(source)
    await remove(ctx, place, await named(ctx, place, query), request)
  },
})

export const getOneLabel = endpoint({
  method: 'GET',
  path: one,
  summary: 'Get a label of a project or group by id or title',
  access: onEither('read_labels'),
  params: { label_id: text() },
  query: { include_ancestor_groups: flag().optional() },
  response: labelEntity,
  async handler({ ctx, source, params, query }) {
    const ancestors = query.include_ancestor_groups ?? true
    return presentOne(ctx, await getLabel(ctx, placeOf(source), params.label_id, ancestors))
  },
})

export const updateLabel = endpoint({
  method: 'PUT',
  path: one,
  summary: 'Change a label of a project or group',
  access: onLabel('admin_label'),
  body: changeBody,
  response: labelEntity,
  handler: ({ ctx, source, label, body }) => change(ctx, placeOf(source), label, body),
})

export const removeLabel = endpoint({
  method: 'DELETE',
  path: one,
  summary: 'Delete a label of a project or group',
  access: onLabel('admin_label'),
  handler: ({ ctx, source, label, request }) => remove(ctx, placeOf(source), label, request),
})

const following = (verb: 'subscribe' | 'unsubscribe', summary: string) =>
  endpoint({
    method: 'POST',
    path: `${one}/${verb}`,
    summary,
    access: onLabel('read_labels', { signedIn: true }),
    response: labelEntity,
    async handler({ ctx, label }) {
      await setSubscribed(ctx, 'label', label.id, verb === 'subscribe')
      return presentOne(ctx, label)
    },
  })

export const subscribeLabel = following('subscribe', 'Subscribe to a label')
export const unsubscribeLabel = following('unsubscribe', 'Unsubscribe from a label')

export const promoteProjectLabel = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id/promote',
  summary: 'Promote a project label to a group label',
  access: onPromotedLabel(),
  response: labelEntity,
  handler: async ({ ctx, group, label }) => presentOne(ctx, await promoteLabel(ctx, group, label)),
})
