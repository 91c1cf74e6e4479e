import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { describeEvent } from './event.ts'
import { locateFrames, releaseCommits } from './locate.ts'
import { readPayload } from './payload.ts'
import { type ErrorEventRow, type ErrorRow, findIssueOf, listHours, listPlaces } from './queries.ts'
import { stackOf } from './stack-trace.ts'
import { errorStatuses, errorStatusOf } from './words.ts'

/** An error (docs/contract/C-resolved §2.4). */
export const errorEntity = z.strictObject({
  id: z.string(),
  title: z.string(),
  message: z.string(),
  culprit: z.string(),
  type: z.string(),
  status: z.enum(errorStatuses),
  count: z.int(),
  user_count: z.int(),
  first_seen: z.string(),
  last_seen: z.string(),
  frequency: z.array(z.tuple([z.int(), z.int()])),
  external_url: z.string(),
  project_id: z.int(),
})

const placeEntity = z.strictObject({
  release: z.string(),
  environment: z.string(),
  events: z.int(),
  first_seen: z.string(),
  last_seen: z.string(),
})

export const errorDetailEntity = errorEntity.extend({
  first_release_version: z.string().nullable(),
  last_release_version: z.string().nullable(),
  tags: z.strictObject({ level: z.string().nullable(), logger: z.string().nullable() }),
  platform: z.string(),
  places: z.array(placeEntity),
  issue: z.strictObject({ id: z.int(), iid: z.int(), web_url: z.string() }).nullable(),
  commit: z.strictObject({ id: z.string(), web_url: z.string() }).nullable(),
})

type ErrorBody = z.input<typeof errorEntity>

const HOUR_MS = 3_600_000
/** `frequency` covers so many hours. */
const HOURS = 24

/** Errors for the wire; how often they came lately is read for all at once. */
export async function presentErrors(
  ctx: Ctx,
  project: Project,
  rows: readonly ErrorRow[],
): Promise<ErrorBody[]> {
  const base = `${ctx.config.externalUrl}/${project.full_path}/-/error_tracking`
  const now = Math.floor(Date.parse(ctx.now()) / HOUR_MS)
  const ids = rows.map((row) => row.id)
  const hours = ids.length === 0 ? [] : await listHours(ctx.db, ids, now - HOURS + 1)
  return rows.map((row) => ({
    id: String(row.id),
    title: row.description === '' ? row.name : `${row.name}: ${row.description}`,
    message: row.description,
    culprit: row.actor,
    type: row.name,
    status: errorStatusOf(row.status),
    count: row.events,
    user_count: row.users,
    first_seen: row.first_seen,
    last_seen: row.last_seen,
    frequency: hours
      .filter((one) => one.error_id === row.id)
      .map((one): [number, number] => [one.hour * 3600, one.events]),
    external_url: `${base}/${row.id}/details`,
    project_id: row.project_id,
  }))
}

/** One error with its releases, environments, issue, and the commit of its last release. */
export async function presentError(
  ctx: Ctx,
  project: Project,
  row: ErrorRow,
): Promise<z.input<typeof errorDetailEntity>> {
  const [error] = await presentErrors(ctx, project, [row])
  if (!error) throw new Error('an error is presented as itself')
  const base = `${ctx.config.externalUrl}/${project.full_path}/-`
  const issue = row.issue_id === null ? undefined : await findIssueOf(ctx.db, row.issue_id)
  const [commit] = await releaseCommits(ctx, project, [row.last_release])
  return {
    ...error,
    first_release_version: row.first_release,
    last_release_version: row.last_release,
    tags: { level: row.level, logger: row.logger },
    platform: row.platform,
    places: await listPlaces(ctx.db, row.id),
    issue: issue ? { ...issue, web_url: `${base}/issues/${issue.iid}` } : null,
    commit: commit === undefined ? null : { id: commit, web_url: `${base}/commit/${commit}` },
  }
}

export const eventEntity = z.strictObject({
  issue_id: z.string(),
  event_id: z.string(),
  date_received: z.string(),
  occurred_at: z.string(),
  level: z.string().nullable(),
  environment: z.string().nullable(),
  release: z.string().nullable(),
  message: z.string(),
  stack_trace_entries: z.array(
    z.strictObject({
      lineNo: z.int().nullable(),
      colNo: z.int().nullable(),
      filename: z.string().nullable(),
      abs_path: z.string().nullable(),
      function: z.string().nullable(),
      in_app: z.boolean().nullable(),
      context: z.array(z.tuple([z.int(), z.string()])),
      path: z.string().nullable(),
      web_url: z.string().nullable(),
    }),
  ),
})

/** Events with their stacks; frames of the project's own code lead to the line at the release's commit. */
export async function presentEvents(
  ctx: Ctx,
  project: Project,
  rows: readonly ErrorEventRow[],
): Promise<z.input<typeof eventEntity>[]> {
  const read = []
  for (const row of rows) {
    const payload = await readPayload(row.payload)
    read.push({ row, event: describeEvent(payload, row.received_at), frames: stackOf(payload) })
  }
  const releases = read.map(({ event }) => event.release)
  const commits = await releaseCommits(ctx, project, releases)
  const stacks = read.map(({ frames }, at) => ({ commit: commits[at], frames }))
  const places = await locateFrames(ctx, project, stacks)
  return read.map(({ row, event, frames }, at) => ({
    issue_id: String(row.error_id),
    event_id: row.event_id,
    date_received: row.received_at,
    occurred_at: event.occurredAt,
    level: event.level,
    environment: event.environment,
    release: event.release,
    message: event.description,
    stack_trace_entries: frames.map((frame, index) => ({
      ...frame,
      context: frame.context.map(([line, text]): [number, string] => [line, text]),
      path: places[at]?.[index]?.path ?? null,
      web_url: places[at]?.[index]?.url ?? null,
    })),
  }))
}
