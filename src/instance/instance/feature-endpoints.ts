import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { onInstance } from '../../access/subjects.ts'
import { badParameters, badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, oneOf, text } from '../../http/params.ts'
import type { FeatureRow } from '../../store/settings-queries.ts'

const gate = z.strictObject({
  key: z.string(),
  value: z.union([z.boolean(), z.int(), z.array(z.string())]),
})

const featureEntity = z.strictObject({
  name: z.string(),
  state: z.enum(['on', 'off', 'conditional']),
  gates: z.array(gate),
  definition: z.null(),
})

type Gate = z.input<typeof gate>

function presentFeature(row: FeatureRow): z.input<typeof featureEntity> {
  return { name: row.name, state: row.state, gates: readGates(row), definition: null }
}

function readGates(row: FeatureRow): Gate[] {
  return JSON.parse(row.gates) as Gate[] // written by us
}

export const listFeatures = endpoint({
  method: 'GET',
  path: '/features',
  summary: 'List the features that somebody has switched',
  access: onInstance(),
  response: z.array(featureEntity),
  handler: ({ ctx }) => ctx.settings.features.map(presentFeature),
})

const actorParams = {
  feature_group: text({ max: 255 }).optional(),
  user: text({ max: 1000 }).optional(),
  group: text({ max: 1000 }).optional(),
  namespace: text({ max: 1000 }).optional(),
  project: text({ max: 1000 }).optional(),
  repository: text({ max: 1000 }).optional(),
}

export const setFeature = endpoint({
  method: 'POST',
  path: '/features/:name',
  summary: 'Switch a feature on or off, for all or for some',
  access: onInstance(),
  params: { name: text({ max: 255 }) },
  body: {
    value: text({ max: 20 }).or(flag()),
    // The Go client sends every word, those that nobody gave it as empty ones.
    key: oneOf(['percentage_of_time', 'percentage_of_actors', '']).optional(),
    force: flag().optional(),
    ...actorParams,
  },
  response: featureEntity,
  async handler({ ctx, params, body }) {
    const actors = Object.entries(actorParams).flatMap(([kind]) => {
      const names = body[kind as keyof typeof actorParams] ?? ''
      return names
        .split(',')
        .filter((name) => name !== '')
        .map((name) => `${kind}:${name}`)
    })
    const key = body.key || 'percentage_of_time'
    const change = (known: readonly Gate[]) => gatesOf(body.value, key, actors, known)
    return presentFeature(await changeFeature(ctx, params.name, change))
  },
})

/** The gates after a change: all or nothing, a share, or some actors more or fewer. */
function gatesOf(
  value: string | boolean,
  key: 'percentage_of_time' | 'percentage_of_actors',
  actors: readonly string[],
  known: readonly Gate[],
): Gate[] {
  const on = value === true || value === 'true'
  const off = value === false || value === 'false'
  if (actors.length > 0) {
    if (!on && !off) throw badRequest('percentage is not available for actors')
    return actorGates(actors, on, known)
  }
  if (on || off) return [{ key: 'boolean', value: on }]
  const share = /^\d{1,3}$/.test(String(value)) ? Number(value) : 101
  if (share > 100) throw badParameters('value is invalid')
  return [
    { key: 'boolean', value: false },
    { key, value: share },
  ]
}

function actorGates(actors: readonly string[], on: boolean, known: readonly Gate[]): Gate[] {
  const old = known.find((one) => one.key === 'actors')?.value
  const before = Array.isArray(old) ? old : []
  const names = on
    ? [...new Set([...before, ...actors])]
    : before.filter((name) => !actors.includes(name))
  const rest = known.filter((one) => one.key !== 'actors')
  const base = rest.length > 0 ? rest : [{ key: 'boolean', value: false }]
  return names.length > 0 ? [...base, { key: 'actors', value: names }] : base
}

async function changeFeature(
  ctx: Ctx,
  name: string,
  change: (known: readonly Gate[]) => Gate[],
): Promise<FeatureRow> {
  const row = await ctx.settings.changeFeature(ctx.db, name, (known) => {
    const gates = change(known ? readGates(known) : [])
    return { state: stateOf(gates), gates: JSON.stringify(gates), updated_at: ctx.now() }
  })
  const details = { name, state: row.state }
  await audit(ctx, { entity: { type: 'Instance', id: 1 }, action: 'feature_changed', details })
  return row
}

function stateOf(gates: readonly Gate[]): FeatureRow['state'] {
  const isOn = gates.some((one) => one.key === 'boolean' && one.value === true)
  const isPartly = gates.some((one) => one.key !== 'boolean' && one.value !== 0)
  return isOn ? 'on' : isPartly ? 'conditional' : 'off'
}

export const deleteFeature = endpoint({
  method: 'DELETE',
  path: '/features/:name',
  summary: 'Leave a feature as it is by itself',
  access: onInstance(),
  params: { name: text({ max: 255 }) },
  async handler({ ctx, params }) {
    if (!(await ctx.settings.deleteFeature(ctx.db, params.name))) return
    const details = { name: params.name }
    await audit(ctx, { entity: { type: 'Instance', id: 1 }, action: 'feature_deleted', details })
  },
})
