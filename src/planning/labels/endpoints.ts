import { z } from 'zod'
import { type SourceKind, sourceWord } from '../../access/sources.ts'
import { assertMayInGroup, getVisibleGroup, onProject } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { badParameters, badRequest, forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { setSubscribed, subscribedAmong } from '../../discussions/subscriptions/subscribe.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { flag, integer, text } from '../../http/params.ts'
import { onSource, type Place, sourceOf } from '../place.ts'
import { countsByLabel } from './count-queries.ts'
import { describeLabels } from './describe.ts'
import { labelEntity, presentLabel } from './entity.ts'
import { deleteLabel, findLabel, type LabelFilter, listLabelRows } from './queries.ts'
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
const selector = { label_id: text().optional(), name: text().optional() }
const listQuery = {
  with_counts: flag().optional(),
  include_ancestor_groups: flag().optional(),
  search: text().optional(),
  archived: flag().optional(),
}
/** Lists of groups look further. */
const groupQuery = {
  include_descendant_groups: flag().optional(),
  only_group_labels: flag().optional(),
}

type Found = NonNullable<Awaited<ReturnType<typeof findLabel>>>

async function getLabel(
  ctx: Ctx,
  place: Place,
  idOrTitle: string,
  ancestors = true,
): Promise<Found> {
  const row = await findLabel(ctx.db, place, idOrTitle, ancestors)
  if (!row) throw notFound('Label')
  return row
}

/** Labels are changed where they belong: a project does not change its group's. */
function assertOwned(place: Place, row: Found): void {
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
  place: Place,
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

async function remove(ctx: Ctx, place: Place, idOrTitle: string): Promise<void> {
  const row = await getLabel(ctx, place, idOrTitle)
  assertOwned(place, row)
  await deleteLabel(ctx.db, row.id)
}

async function follow(ctx: Ctx, place: Place, idOrTitle: string, subscribed: boolean) {
  const row = await getLabel(ctx, place, idOrTitle)
  await setSubscribed(ctx, 'label', row.id, subscribed)
  return presentOne(ctx, row)
}

/** The label that a request without one in its path means: `label_id` or `name` (python-gitlab saves this way). */
function named(given: { label_id?: string | undefined; name?: string | undefined }): string {
  const found = given.label_id ?? given.name
  if (found === undefined)
    throw badParameters('label_id, name are missing, at least one parameter must be provided')
  return found
}

function labelsOf(kind: SourceKind): Endpoint[] {
  const path = `/${kind}/:id/labels` as const
  const word = sourceWord[kind]
  // What projects do not ask is never sent to them, and optional for groups.
  const query = (
    kind === 'groups' ? { ...listQuery, ...groupQuery } : listQuery
  ) as typeof listQuery & typeof groupQuery
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the labels of a ${word} and of the groups above it`,
      tags,
      access: onSource(kind, 'read_labels'),
      query,
      paginate: 'offset',
      response: z.array(labelEntity),
      handler({ ctx, source, query, page }) {
        const filter = {
          ...query,
          ancestors: query.include_ancestor_groups ?? true,
          below: query.include_descendant_groups
            ? viewerOf(ctx.actor, dayOf(ctx.now()))
            : undefined,
          counts: query.with_counts,
        }
        return list(ctx, source.place, filter, page)
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Create a label in a ${word}`,
      tags,
      access: onSource(kind, 'admin_label'),
      body: createBody,
      response: labelEntity,
      status: 201,
      handler: async ({ ctx, source, body }) =>
        presentOne(ctx, await createLabel(ctx, source.place, body)),
    }),
    endpoint({
      method: 'PUT',
      path,
      summary: `Change the label of a ${word} that the body names`,
      tags,
      access: onSource(kind, 'admin_label'),
      body: { ...selector, ...changeBody },
      response: labelEntity,
      handler({ ctx, source, body: { label_id, name, ...changes } }) {
        return change(ctx, source.place, named({ label_id, name }), changes)
      },
    }),
    endpoint({
      method: 'DELETE',
      path,
      summary: `Delete the label of a ${word} that the request names`,
      tags,
      access: onSource(kind, 'admin_label'),
      query: selector,
      handler: ({ ctx, source, query }) => remove(ctx, source.place, named(query)),
    }),
  ]
}

function singleLabelsOf(kind: SourceKind): Endpoint[] {
  const path = `/${kind}/:id/labels/:label_id` as const
  const word = sourceWord[kind]
  const following = (verb: 'subscribe' | 'unsubscribe') =>
    endpoint({
      method: 'POST',
      path: `${path}/${verb}` as const,
      summary: `Hear ${verb === 'subscribe' ? '' : 'no more '}of what carries a label`,
      tags,
      access: onSource(kind, 'read_labels', { signedIn: true }),
      params: labelParams,
      response: labelEntity,
      status: 201,
      handler: ({ ctx, source, params }) =>
        follow(ctx, source.place, params.label_id, verb === 'subscribe'),
    })
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `Get a label of a ${word} by id or title`,
      tags,
      access: onSource(kind, 'read_labels'),
      params: labelParams,
      query: { include_ancestor_groups: flag().optional() },
      response: labelEntity,
      async handler({ ctx, source, params, query }) {
        const ancestors = query.include_ancestor_groups ?? true
        return presentOne(ctx, await getLabel(ctx, source.place, params.label_id, ancestors))
      },
    }),
    endpoint({
      method: 'PUT',
      path,
      summary: `Change a label of a ${word}`,
      tags,
      access: onSource(kind, 'admin_label'),
      params: labelParams,
      body: changeBody,
      response: labelEntity,
      handler: ({ ctx, source, params, body }) => change(ctx, source.place, params.label_id, body),
    }),
    endpoint({
      method: 'DELETE',
      path,
      summary: `Delete a label of a ${word}`,
      tags,
      access: onSource(kind, 'admin_label'),
      params: labelParams,
      handler: ({ ctx, source, params }) => remove(ctx, source.place, params.label_id),
    }),
    following('subscribe'),
    following('unsubscribe'),
  ]
}

export const projectLabels = [...labelsOf('projects'), ...singleLabelsOf('projects')]
export const groupLabels = [...labelsOf('groups'), ...singleLabelsOf('groups')]

export const promoteProjectLabel = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id/promote',
  summary: 'Make a project label one of its group',
  tags,
  access: onProject('admin_label'),
  params: labelParams,
  response: labelEntity,
  async handler({ ctx, project, params }) {
    const row = await getLabel(ctx, sourceOf(project).place, params.label_id)
    if (project.namespace_kind !== 'group')
      throw badRequest('Failed to promote project label to group label')
    const group = await getVisibleGroup(ctx, String(project.namespace_id))
    assertMayInGroup(ctx, group, 'admin_label')
    if (row.project_id === null) throw badRequest('Failed to promote project label to group label')
    return presentOne(ctx, await promoteLabel(ctx, group, row))
  },
})
