import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { flagClient, presentFlagClient, resetFlagClient } from './client.ts'
import { clientFeaturesEntity, listClientFeatures } from './client-features.ts'
import { findFlagClient } from './queries.ts'

const path = '/projects/:id/feature_flags_client'
const clientEntity = z.strictObject({ api_url: z.string(), instance_id: z.string() })

export const getFeatureFlagsClient = endpoint({
  method: 'GET',
  path,
  summary: 'Read the address and the key with which programs read feature flags',
  access: onProject('admin_feature_flags'),
  response: clientEntity,
  async handler({ ctx, project }) {
    const client = await findFlagClient(ctx.db, project.id)
    if (!client) throw notFound()
    return presentFlagClient(ctx, client)
  },
})

export const resetFeatureFlagsClient = endpoint({
  method: 'POST',
  path: `${path}/reset_token`,
  summary: 'Give programs a new key with which they read feature flags',
  access: onProject('admin_feature_flags'),
  response: clientEntity,
  status: 201,
  handler: async ({ ctx, project }) =>
    presentFlagClient(ctx, await resetFlagClient(ctx, project.id)),
})

const unleash = '/feature_flags/unleash/:project_id'
const common = { access: flagClient(), ownSignIn: true } as const
/** The key itself is read with the other credentials, from `UNLEASH-INSTANCEID` or `instance_id`. */
const query = { app_name: text({ max: 255 }).optional() }

export const checkUnleashClient = endpoint({
  ...common,
  method: 'GET',
  path: unleash,
  summary: 'Check the instance id of a feature flag client',
  query,
  status: 200,
  handler() {},
})

const reading = {
  ...common,
  method: 'GET',
  query,
  response: clientFeaturesEntity,
} as const

export const listUnleashFeatures = endpoint({
  ...reading,
  path: `${unleash}/client/features`,
  summary: 'Read the feature flags of an environment, as Unleash clients do',
  handler: ({ ctx, projectId, query, request }) =>
    listClientFeatures(ctx, projectId, environmentOf(request.headers, query.app_name)),
})

export const listUnleashFeaturesOfOldClients = endpoint({
  ...reading,
  path: `${unleash}/features`,
  summary: 'Read the feature flags of an environment, as old Unleash clients do',
  handler: ({ ctx, projectId, query, request }) =>
    listClientFeatures(ctx, projectId, environmentOf(request.headers, query.app_name)),
})

/** Clients announce themselves; there is nothing to remember of them. */
export const registerUnleashClient = endpoint({
  ...common,
  method: 'POST',
  path: `${unleash}/client/register`,
  summary: 'Announce an Unleash client',
  query,
  status: 200,
  handler() {},
})

/** How often flags were asked for is the business of the program: no numbers are kept. */
export const receiveUnleashMetrics = endpoint({
  ...common,
  method: 'POST',
  path: `${unleash}/client/metrics`,
  summary: 'Take the numbers of an Unleash client',
  query,
  status: 200,
  handler() {},
})

/** Clients give the name of their environment as that of their application. */
function environmentOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  given: string | undefined,
): string | undefined {
  const header = headers['unleash-appname']
  return typeof header === 'string' && header !== '' ? header : given
}
