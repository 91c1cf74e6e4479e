import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { projectRecord } from '../../access/records.ts'
import { onProject, type Project } from '../../access/subjects.ts'
import { invalidText, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fault, flag, id, parameter } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  type ClientKeyRow,
  deleteClientKey,
  type ErrorSettingsRow,
  findClientKey,
  findErrorSettings,
  hasActiveKey,
  insertClientKey,
  listClientKeys,
  saveErrorSettings,
} from './queries.ts'

const path = '/projects/:id/error_tracking'

const settingsEntity = z.strictObject({
  active: z.boolean(),
  project_name: z.string().nullable(),
  tracker_external_url: z.string().nullable(),
  api_url: z.string().nullable(),
  integrated: z.boolean(),
})

/** True or false; empty is neither (docs/contract/C-resolved §2.1). */
function strictFlag() {
  return parameter({ type: 'boolean' }, (raw) => {
    if (raw === '' || raw === null) return fault.says('is empty')
    const read = flag().safeParse(raw)
    return read.success ? read.data : fault.invalid
  })
}

function presentSettings(row: ErrorSettingsRow) {
  return {
    active: row.active === 1,
    project_name: null,
    tracker_external_url: null,
    api_url: null,
    integrated: row.integrated === 1,
  }
}

/** Saves both switches; what is switched on without a key of its own gets one. */
async function save(
  ctx: Ctx,
  project: Project,
  switches: { readonly active: boolean; readonly integrated: boolean },
) {
  const { active, integrated } = switches
  if (active && !integrated) throw invalidText('Api url is a required field')
  const row = await inTransaction(ctx, async (ctx) => {
    const saved = await saveErrorSettings(ctx.db, { project_id: project.id, active, integrated })
    if (active && !(await hasActiveKey(ctx.db, project.id))) await addKey(ctx, project.id)
    return saved
  })
  return presentSettings(row)
}

function addKey(ctx: Ctx, projectId: number): Promise<ClientKeyRow> {
  const public_key = `${ctx.config.vendor.prefix}et_${randomBytes(16).toString('hex')}`
  return insertClientKey(ctx.db, { project_id: projectId, public_key, created_at: ctx.now() })
}

async function getSettings(ctx: Ctx, projectId: number): Promise<ErrorSettingsRow> {
  const row = await findErrorSettings(ctx.db, projectId)
  if (!row) throw notFound('Error Tracking Setting')
  return row
}

export const getErrorTrackingSettings = endpoint({
  method: 'GET',
  path: `${path}/settings`,
  summary: 'Get whether a project takes reports of errors',
  access: onProject('admin_error_tracking'),
  response: settingsEntity,
  handler: async ({ ctx, project }) => presentSettings(await getSettings(ctx, project.id)),
})

export const putErrorTrackingSettings = endpoint({
  method: 'PUT',
  path: `${path}/settings`,
  summary: 'Let a project take reports of errors, or no more',
  access: onProject('admin_error_tracking'),
  body: { active: strictFlag(), integrated: strictFlag() },
  response: settingsEntity,
  handler: ({ ctx, project, body }) => save(ctx, project, body),
})

export const patchErrorTrackingSettings = endpoint({
  method: 'PATCH',
  path: `${path}/settings`,
  summary: 'Change whether a project takes reports of errors',
  access: onProject('admin_error_tracking'),
  body: { active: strictFlag(), integrated: strictFlag().optional() },
  response: settingsEntity,
  handler: ({ ctx, project, body }) =>
    inTransaction(ctx, async (ctx) => {
      // Read inside: somebody may have changed what is to stay as it is.
      const known = await getSettings(ctx, project.id)
      const integrated = body.integrated ?? known.integrated === 1
      return await save(ctx, project, { active: body.active, integrated })
    }),
})

const keyEntity = z.strictObject({
  id: z.int(),
  active: z.boolean(),
  public_key: z.string(),
  sentry_dsn: z.string(),
})

function presentKey(ctx: Ctx, row: ClientKeyRow): z.input<typeof keyEntity> {
  const base = `${ctx.config.externalUrl}/errortracking/api/v1/projects/${row.project_id}`
  return {
    id: row.id,
    active: row.active === 1,
    public_key: row.public_key,
    sentry_dsn: base.replace('://', `://${row.public_key}@`),
  }
}

export const getClientKeys = endpoint({
  method: 'GET',
  path: `${path}/client_keys`,
  summary: 'List the error tracking client keys of a project',
  access: onProject('admin_error_tracking'),
  paginate: 'offset',
  response: z.array(keyEntity),
  async handler({ ctx, project, page }) {
    const rows = await listClientKeys(ctx.db, project.id, page)
    return { ...rows, items: rows.items.map((row) => presentKey(ctx, row)) }
  },
})

export const createClientKey = endpoint({
  method: 'POST',
  path: `${path}/client_keys`,
  summary: 'Create an error tracking client key',
  access: onProject('admin_error_tracking'),
  response: keyEntity,
  status: 201,
  handler: async ({ ctx, project }) => presentKey(ctx, await addKey(ctx, project.id)),
})

const onClientKey = projectRecord('admin_error_tracking', {
  params: { key_id: id() },
  async find({ ctx, project, params }) {
    const key = await findClientKey(ctx.db, project.id, params.key_id)
    if (!key) throw notFound('Client Key')
    return { key }
  },
})

export const removeClientKey = endpoint({
  method: 'DELETE',
  path: `${path}/client_keys/:key_id`,
  summary: 'Delete a key; whoever reports with it is refused from then on',
  access: onClientKey(),
  response: keyEntity,
  async handler({ ctx, key }) {
    await deleteClientKey(ctx.db, key.id)
    return presentKey(ctx, key)
  },
})
