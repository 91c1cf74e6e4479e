import { z } from 'zod'
import type { ProjectAbility } from '../../access/abilities.ts'
import { projectRecord } from '../../access/records.ts'
import type { Project } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint, type Shape } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import type { LabelRow } from '../labels/entity.ts'
import { listLabelsById } from '../labels/queries.ts'
import { milestoneEntity } from '../milestones/entity.ts'
import { presentMilestonesById } from '../milestones/verbs.ts'
import {
  type EventKind,
  findResourceEvent,
  listClosingRequests,
  listResourceEvents,
} from './queries.ts'
import type { ChangedSubject } from './record.ts'

/** The merge request whose merge closed an issue. */
const sourceRequestEntity = z.strictObject({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  state: z.string(),
  web_url: z.string(),
})

const eventEntity = z.strictObject({
  id: z.int(),
  user: userBasicEntity.nullable(),
  created_at: z.string(),
  resource_type: z.enum(['Issue', 'MergeRequest']),
  resource_id: z.int(),
  action: z.string().nullable().optional(),
  label: z
    .strictObject({
      id: z.int(),
      name: z.string(),
      color: z.string(),
      description: z.string().nullable(),
    })
    .nullable()
    .optional(),
  milestone: milestoneEntity.nullable().optional(),
  state: z.string().nullable().optional(),
  source_commit: z.string().nullable().optional(),
  source_merge_request: sourceRequestEntity.nullish(),
  weight: z.int().nullable().optional(),
  issue_id: z.int().optional(),
})

type Row = NonNullable<Awaited<ReturnType<typeof findResourceEvent>>>

/** One kind of thing whose changes are listed, as the routes need to know it. */
export interface ChangedKind {
  readonly path: string
  readonly params: Shape
  readonly tag: string
  readonly ability: ProjectAbility
  readonly events: readonly (EventKind | 'iteration')[]
  find(
    ctx: Ctx,
    project: Project,
    params: Readonly<Record<string, unknown>>,
  ): Promise<ChangedSubject>
}

type EventBody = z.input<typeof eventEntity>
type Labels = ReadonlyMap<number, LabelRow>
type Milestones = Awaited<ReturnType<typeof presentMilestonesById>>

type Requests = ReadonlyMap<number, z.input<typeof sourceRequestEntity>>

async function requestsOf(ctx: Ctx, rows: readonly Row[]): Promise<Requests> {
  const ids = rows.flatMap((row) => row.source_merge_request_id ?? [])
  const found = await listClosingRequests(ctx.db, viewerOf(ctx), [...new Set(ids)])
  return new Map(
    found.map(({ id, iid, target_project_id: project_id, title, state, full_path: path }) => {
      const web_url = `${ctx.config.externalUrl}/${path}/-/merge_requests/${iid}`
      return [id, { id, iid, project_id, title, state, web_url }]
    }),
  )
}

async function present(ctx: Ctx, rows: readonly Row[]): Promise<EventBody[]> {
  const ids = (pick: (row: Row) => number | null) => [
    ...new Set(rows.flatMap((row) => pick(row) ?? [])),
  ]
  const users = await usersById(
    ctx,
    rows.map((row) => row.user_id),
  )
  const labels = await listLabelsById(
    ctx.db,
    ids((row) => row.label_id),
  )
  const labelsById = new Map(labels.map((label) => [label.id, label]))
  const milestones = await presentMilestonesById(
    ctx,
    ids((row) => row.milestone_id),
  )
  const requests = await requestsOf(ctx, rows)
  return rows.map((row) => ({
    id: row.id,
    user: users.get(row.user_id ?? 0) ?? null,
    created_at: row.created_at,
    resource_type: row.subject_type === 'issue' ? 'Issue' : 'MergeRequest',
    resource_id: row.subject_id,
    ...whatChanged(row, labelsById, milestones, requests),
  }))
}

function whatChanged(
  row: Row,
  labels: Labels,
  milestones: Milestones,
  requests: Requests,
): Partial<EventBody> {
  switch (row.kind) {
    case 'label': {
      const label = labels.get(row.label_id ?? 0)
      if (!label) return { label: null, action: row.action }
      const { id, title: name, color, description } = label
      return { label: { id, name, color, description }, action: row.action }
    }
    case 'milestone':
      return { milestone: milestones.get(row.milestone_id ?? 0) ?? null, action: row.action }
    case 'state':
      return {
        state: row.state,
        source_commit: row.source_commit,
        source_merge_request: requests.get(row.source_merge_request_id ?? 0) ?? null,
      }
    case 'weight':
      return { issue_id: row.subject_id, state: null, weight: row.weight }
  }
}

/** The routes that list how a thing changed: `resource_label_events` and its kin (docs/contract/D §1.9). */
export function resourceEventEndpoints(kind: ChangedKind): Endpoint[] {
  const access = projectRecord(kind.ability, {
    params: kind.params,
    find: async ({ ctx, project, params }) => ({ subject: await kind.find(ctx, project, params) }),
  })()
  return kind.events.flatMap((event) => {
    const path = `${kind.path}/resource_${event}_events`
    const common = { access, tags: [kind.tag] }
    return [
      endpoint({
        ...common,
        method: 'GET',
        path,
        summary: `List changes of its ${event}`,
        paginate: 'offset',
        response: z.array(eventEntity),
        async handler({ ctx, subject, page }) {
          const rows = await listResourceEvents(ctx.db, event, subject.type, subject.id, page)
          return { ...rows, items: await present(ctx, rows.items) }
        },
      }),
      endpoint({
        ...common,
        method: 'GET',
        path: `${path}/:event_id`,
        summary: `Get a change of its ${event}`,
        params: { event_id: id() },
        response: eventEntity,
        async handler({ ctx, subject, params }) {
          const row = await findResourceEvent(
            ctx.db,
            event,
            subject.type,
            subject.id,
            params.event_id,
          )
          const [found] = row ? await present(ctx, [row]) : []
          return existing(found)
        },
      }),
    ]
  })
}
