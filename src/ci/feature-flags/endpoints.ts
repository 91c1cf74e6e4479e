import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fault, flag, hash, id, list, oneOf, parameter, text } from '../../http/params.ts'
import { onFeatureFlag } from './access.ts'
import { flagEntity, presentFlag, presentFlags } from './entity.ts'
import { deleteFlag, listFlags } from './queries.ts'
import { changeFlag, createFlag } from './save-flag.ts'
import { STRATEGIES } from './strategy-parameters.ts'

const path = '/projects/:id/feature_flags'

/** `parameters` as a map, or as the JSON text of one. */
const parameters = parameter<Record<string, string>>(
  { type: 'object', additionalProperties: { type: 'string' } },
  (raw) => {
    const given = typeof raw === 'string' ? parsed(raw) : raw
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return fault.invalid
    const entries = Object.entries(given).map(([key, value]) => [key, String(value)] as const)
    return entries.length > 10 ? fault.invalid : Object.fromEntries(entries)
  },
)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const scope = { environment_scope: text({ max: 255 }).optional() }
const strategy = {
  name: oneOf(STRATEGIES).optional(),
  parameters: parameters.optional(),
  user_list_id: id().nullish(),
}
/** What distinguishes a part of a flag that is there already from a new one. */
const known = { id: id().optional(), _destroy: flag().optional() }

// A new flag has nothing that an `id` could name; the Go client sends 0 for each of its scopes.
const newStrategies = list(
  hash({ ...strategy, scopes: list(hash(scope), { max: 100 }).optional() }),
  { max: 100 },
)
const strategies = list(
  hash({
    ...known,
    ...strategy,
    scopes: list(hash({ ...known, ...scope }), { max: 100 }).optional(),
  }),
  { max: 100 },
)
const attributes = {
  description: text({ max: 1024 }).nullish(),
  active: flag().optional(),
}

export const listFeatureFlags = endpoint({
  method: 'GET',
  path,
  summary: 'List the feature flags of a project',
  access: onProject('read_feature_flags'),
  query: { scope: oneOf(['enabled', 'disabled']).optional() },
  paginate: 'offset',
  response: z.array(flagEntity),
  async handler({ ctx, project, query, page }) {
    const active = query.scope === undefined ? undefined : query.scope === 'enabled'
    const rows = await listFlags(ctx.db, project.id, active, page)
    return { ...rows, items: await presentFlags(ctx, project.id, rows.items) }
  },
})

export const getFeatureFlag = endpoint({
  method: 'GET',
  path: `${path}/:feature_flag_name`,
  summary: 'Read a feature flag',
  access: onFeatureFlag(),
  response: flagEntity,
  handler: ({ ctx, feature }) => presentFlag(ctx, feature),
})

export const addFeatureFlag = endpoint({
  method: 'POST',
  path,
  summary: 'Add a feature flag to a project',
  access: onProject('admin_feature_flags'),
  body: {
    name: text({ max: 255 }),
    version: oneOf(['new_version_flag']).optional(),
    ...attributes,
    strategies: newStrategies.optional(),
  },
  response: flagEntity,
  status: 201,
  handler: async ({ ctx, project, body }) => presentFlag(ctx, await createFlag(ctx, project, body)),
})

export const editFeatureFlag = endpoint({
  method: 'PUT',
  path: `${path}/:feature_flag_name`,
  summary: 'Change a feature flag',
  access: onFeatureFlag('admin_feature_flags'),
  body: {
    name: text({ max: 255 }).optional(),
    ...attributes,
    strategies: strategies.optional(),
  },
  response: flagEntity,
  handler: async ({ ctx, feature, body }) => presentFlag(ctx, await changeFlag(ctx, feature, body)),
})

export const dropFeatureFlag = endpoint({
  method: 'DELETE',
  path: `${path}/:feature_flag_name`,
  summary: 'Delete a feature flag',
  access: onFeatureFlag('admin_feature_flags'),
  handler: ({ ctx, feature }) => deleteFlag(ctx.db, feature.id),
})
