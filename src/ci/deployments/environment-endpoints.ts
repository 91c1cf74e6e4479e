import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { later } from '../../base/clock.ts'
import { badParameters, badRequest } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, instant, integer, oneOf, text } from '../../http/params.ts'
import {
  type EnvironmentRow,
  listEnvironments,
  listReviewApps,
  listStale,
} from '../environments/queries.ts'
import {
  changeEnvironment,
  createEnvironment,
  removeEnvironment,
  removeStopped,
} from '../environments/save-environment.ts'
import {
  mayDeployTo,
  mayStop,
  onEnvironment,
  onEnvironments,
  onOwnEnvironment,
  runsStopJob,
} from './access.ts'
import {
  environmentBasicEntity,
  environmentDetailsEntity,
  environmentEntity,
  presentBasic,
  presentEnvironment,
  presentEnvironmentDetails,
} from './entity.ts'
import { stopEnvironment } from './stop-environment.ts'

const common = { tags: ['environments'], jobToken: true } as const
const path = '/projects/:id/environments'
const tier = oneOf(['production', 'staging', 'testing', 'development', 'other']).optional()
const attributes = {
  external_url: text({ max: 255 }).nullish(),
  tier,
  description: text({ max: 10_000 }).nullish(),
  auto_stop_setting: oneOf(['always', 'with_action']).optional(),
}

export const listProjectEnvironments = endpoint({
  ...common,
  method: 'GET',
  path,
  summary: 'List the environments of a project',
  access: onEnvironments(),
  query: {
    name: text({ max: 255 }).optional(),
    search: text({ max: 255 }).optional(),
    states: oneOf(['available', 'stopping', 'stopped']).optional(),
  },
  check: (sent) =>
    sent.has('name') && sent.has('search') ? ['name, search are mutually exclusive'] : [],
  paginate: 'offset',
  response: z.array(environmentEntity),
  async handler({ ctx, project, query, page }) {
    if (query.search !== undefined && query.search.length < 3) {
      throw badRequest('Search query is less than 3 characters')
    }
    const rows = await listEnvironments(ctx.db, project.id, query, page)
    return { ...rows, items: rows.items.map((row) => presentEnvironment(project, row)) }
  },
})

export const getEnvironment = endpoint({
  ...common,
  method: 'GET',
  path: `${path}/:environment_id`,
  summary: 'Read an environment with what was deployed to it last',
  access: onEnvironment(),
  response: environmentDetailsEntity,
  handler: ({ ctx, project, environment }) => presentEnvironmentDetails(ctx, project, environment),
})

export const addEnvironment = endpoint({
  ...common,
  method: 'POST',
  path,
  summary: 'Add an environment to a project',
  access: onProject('admin_environments'),
  body: { name: text({ max: 255 }), ...attributes },
  response: environmentEntity,
  status: 201,
  handler: async ({ ctx, project, body: { name, ...input } }) =>
    presentEnvironment(project, await createEnvironment(ctx, project, name, input)),
})

export const editEnvironment = endpoint({
  ...common,
  method: 'PUT',
  path: `${path}/:environment_id`,
  summary: 'Change an environment; its name stays',
  access: onOwnEnvironment(),
  body: { name: text({ max: 255 }).optional(), ...attributes },
  response: environmentEntity,
  async handler({ ctx, project, environment, body: { name, ...input } }) {
    if (name !== undefined && name !== environment.name) {
      throw badParameters('name cannot be changed')
    }
    return presentEnvironment(project, await changeEnvironment(ctx, environment, input))
  },
})

export const dropEnvironment = endpoint({
  ...common,
  method: 'DELETE',
  path: `${path}/:environment_id`,
  summary: 'Delete an environment that is stopped',
  access: onOwnEnvironment(),
  handler: ({ ctx, environment }) => removeEnvironment(ctx, environment),
})

export const stopProjectEnvironment = endpoint({
  ...common,
  method: 'POST',
  path: `${path}/:environment_id/stop`,
  summary: 'Stop an environment by the job that is there for it',
  access: onOwnEnvironment(),
  conditions: [runsStopJob],
  body: { force: flag().default(false) },
  status: 200,
  response: environmentEntity,
  async handler({ ctx, project, environment, body }) {
    return presentEnvironment(project, await stopEnvironment(ctx, environment, body))
  },
})

export const stopStaleEnvironments = endpoint({
  ...common,
  method: 'POST',
  path: `${path}/stop_stale`,
  summary: 'Stop the environments that nothing was deployed to since a moment',
  access: onProject('admin_environments'),
  body: { before: instant() },
  status: 200,
  response: z.strictObject({ message: z.string() }),
  async handler({ ctx, project, body }) {
    if (body.before > later(ctx.now(), -7 * 86_400_000)) {
      throw badRequest('Invalid Date')
    }
    for (const row of await listStale(ctx.db, project.id, body.before)) {
      if (await mayStop(ctx, project, row)) await stopEnvironment(ctx, row)
    }
    return { message: 'Successfully requested stop for all stale environments' }
  },
})

const reviewAppsEntity = z.strictObject({
  scheduled_entries: z.array(environmentBasicEntity),
  unprocessable_entries: z.array(environmentBasicEntity),
})

export const dropReviewApps = endpoint({
  ...common,
  method: 'DELETE',
  path: `${path}/review_apps`,
  summary: 'Delete stopped review environments; without dry_run=false only say which',
  access: onProject('admin_build'),
  query: {
    before: instant().optional(),
    limit: integer({ min: 1, max: 1000 }).default(100),
    dry_run: flag().default(true),
  },
  response: reviewAppsEntity,
  async handler({ ctx, project, query }) {
    const before = query.before ?? later(ctx.now(), -30 * 86_400_000)
    const scheduled: EnvironmentRow[] = []
    const kept: EnvironmentRow[] = []
    for (const row of await listReviewApps(ctx.db, project.id, before, query.limit)) {
      const isTheirs = await mayDeployTo(ctx, project, row)
      // Somebody may have started it again, or deleted it, a moment ago.
      const goes = isTheirs && (query.dry_run || (await removeStopped(ctx, row)))
      ;(goes ? scheduled : kept).push(row)
    }
    return {
      scheduled_entries: scheduled.map(presentBasic),
      unprocessable_entries: kept.map(presentBasic),
    }
  },
})
