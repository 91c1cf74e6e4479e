import { z } from 'zod'
import { onEither } from '../../access/sources.ts'
import { onInstance } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, hash, oneOf, text } from '../../http/params.ts'
import { onVariable } from './access.ts'
import {
  instanceVariableEntity,
  presentInstanceVariable,
  presentVariable,
  variableEntity,
} from './entity.ts'
import { INSTANCE, listVariableRows, listVariablesOf, placeOf } from './queries.ts'
import { changeVariable, createVariable, pickVariable, removeVariable } from './save-variable.ts'

const admin = 'admin_ci_variables'
const path = '/:source/:id/variables'
const attributes = {
  variable_type: oneOf(['env_var', 'file']).optional(),
  protected: flag().optional(),
  masked: flag().optional(),
  raw: flag().optional(),
  description: text().nullish(),
}
const scope = { environment_scope: text().optional() }
const filter = hash({ environment_scope: text() }).optional()

export const listVariables = endpoint({
  method: 'GET',
  path,
  summary: 'List the CI/CD variables of a project or group',
  access: onEither('read_ci_variables'),
  paginate: 'offset',
  response: z.array(variableEntity),
  async handler({ ctx, source, page }) {
    const rows = await listVariableRows(ctx.db, placeOf(source), page)
    return { ...rows, items: rows.items.map((row) => presentVariable(ctx, row)) }
  },
})

export const getVariable = endpoint({
  method: 'GET',
  path: `${path}/:key`,
  summary: 'Read a variable of a project or group',
  access: onVariable(),
  query: { filter },
  response: variableEntity,
  handler: ({ ctx, variables, query }) =>
    presentVariable(ctx, pickVariable(variables, query.filter?.environment_scope)),
})

export const addVariable = endpoint({
  method: 'POST',
  path,
  summary: 'Add a variable to a project or group',
  access: onEither(admin),
  body: {
    key: text(),
    value: text(),
    ...attributes,
    ...scope,
    masked_and_hidden: flag().optional(),
  },
  response: variableEntity,
  status: 201,
  async handler({ ctx, source, body: { key, ...input } }) {
    return presentVariable(ctx, await createVariable(ctx, placeOf(source), key, input))
  },
})

export const editVariable = endpoint({
  method: 'PUT',
  path: `${path}/:key`,
  summary: 'Change a variable of a project or group',
  access: onVariable(admin),
  body: { value: text().optional(), ...attributes, ...scope, filter },
  response: variableEntity,
  async handler({ ctx, source, variables, body: { filter, ...input } }) {
    const row = pickVariable(variables, filter?.environment_scope)
    return presentVariable(ctx, await changeVariable(ctx, placeOf(source), row, input))
  },
})

export const dropVariable = endpoint({
  method: 'DELETE',
  path: `${path}/:key`,
  summary: 'Remove a variable from a project or group',
  access: onVariable(admin),
  query: { filter },
  async handler({ ctx, source, variables, query }) {
    const row = pickVariable(variables, query.filter?.environment_scope)
    await removeVariable(ctx, placeOf(source), row)
  },
})

const instancePath = '/admin/ci/variables'
const params = { key: text({ max: 255 }) }

async function getInstanceRow(ctx: Ctx, key: string) {
  const [row] = await listVariablesOf(ctx.db, INSTANCE, key)
  if (!row) throw notFound('Instance Variable')
  return row
}

export const listInstanceVariables = endpoint({
  method: 'GET',
  path: instancePath,
  summary: 'List the CI/CD variables of the instance',
  access: onInstance(),
  paginate: 'offset',
  response: z.array(instanceVariableEntity),
  async handler({ ctx, page }) {
    const rows = await listVariableRows(ctx.db, INSTANCE, page)
    return { ...rows, items: rows.items.map((row) => presentInstanceVariable(ctx, row)) }
  },
})

export const getInstanceVariable = endpoint({
  method: 'GET',
  path: `${instancePath}/:key`,
  summary: 'Read a variable of the instance',
  access: onInstance(),
  params,
  response: instanceVariableEntity,
  handler: async ({ ctx, params }) =>
    presentInstanceVariable(ctx, await getInstanceRow(ctx, params.key)),
})

export const addInstanceVariable = endpoint({
  method: 'POST',
  path: instancePath,
  summary: 'Add a variable to the instance',
  access: onInstance(),
  body: { key: text(), value: text(), ...attributes },
  response: instanceVariableEntity,
  status: 201,
  handler: async ({ ctx, body: { key, ...input } }) =>
    presentInstanceVariable(ctx, await createVariable(ctx, INSTANCE, key, input)),
})

export const editInstanceVariable = endpoint({
  method: 'PUT',
  path: `${instancePath}/:key`,
  summary: 'Change a variable of the instance',
  access: onInstance(),
  params,
  body: { value: text().optional(), ...attributes },
  response: instanceVariableEntity,
  async handler({ ctx, params, body }) {
    const row = await getInstanceRow(ctx, params.key)
    return presentInstanceVariable(ctx, await changeVariable(ctx, INSTANCE, row, body))
  },
})

export const dropInstanceVariable = endpoint({
  method: 'DELETE',
  path: `${instancePath}/:key`,
  summary: 'Remove a variable from the instance',
  access: onInstance(),
  params,
  async handler({ ctx, params }) {
    await removeVariable(ctx, INSTANCE, await getInstanceRow(ctx, params.key))
  },
})
