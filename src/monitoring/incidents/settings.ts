import { z } from 'zod'
import { onProject, type Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, integer, text } from '../../http/params.ts'
import { readDescription } from '../../repositories/templates/descriptions.ts'
import type { Db } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { mayPerson } from '../alerts/access.ts'
import { findSettingsRow, type IncidentSettingsRow, saveSettingsRow } from './queries.ts'

const tags = ['incident management']

/** What becomes of alerts (docs/contract/C-resolved §1.1 Settings). */
export interface IncidentSettings {
  readonly create_issue: boolean
  readonly send_email: boolean
  readonly auto_close_incident: boolean
  readonly issue_template_key: string | null
  /** Who is given new incidents. */
  readonly on_call_user_id: number | null
}

const settingsEntity = z.strictObject({
  create_issue: z.boolean(),
  send_email: z.boolean(),
  auto_close_incident: z.boolean(),
  issue_template_key: z.string().nullable(),
  on_call_user_id: z.int().nullable(),
})

export async function findIncidentSettings(db: Db, projectId: number): Promise<IncidentSettings> {
  return presentSettings(await findSettingsRow(db, projectId))
}

function presentSettings(row: IncidentSettingsRow | undefined): IncidentSettings {
  return {
    create_issue: row?.create_issue === 1,
    send_email: row?.send_email === 1,
    auto_close_incident: row?.auto_close_incident !== 0,
    issue_template_key: row?.issue_template_key ?? null,
    on_call_user_id: row?.on_call_user_id ?? null,
  }
}

export const getIncidentSettings = endpoint({
  method: 'GET',
  path: '/projects/:id/incident_management_settings',
  summary: 'Get the alert settings of a project',
  tags,
  access: onProject('admin_operations'),
  response: settingsEntity,
  handler: ({ ctx, project }) => findIncidentSettings(ctx.db, project.id),
})

export const changeIncidentSettings = endpoint({
  method: 'PUT',
  path: '/projects/:id/incident_management_settings',
  summary: 'Update the alert settings of a project',
  tags,
  access: onProject('admin_operations'),
  body: {
    create_issue: flag().optional(),
    send_email: flag().optional(),
    auto_close_incident: flag().optional(),
    issue_template_key: text({ max: 255 }).nullish(),
    on_call_user_id: integer().nullish(),
  },
  response: settingsEntity,
  async handler({ ctx, project, body, request }) {
    const { issue_template_key: template, on_call_user_id: onCall } = body
    if (template) await assertTemplate(ctx, project, template, request.signal)
    if (typeof onCall === 'number' && !(await mayPerson(ctx, project, onCall, 'update_alerts'))) {
      throw badRequest('on_call_user_id names nobody who may look after alerts')
    }
    const changes = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    )
    return await inTransaction(ctx, async ({ db }) => {
      // Read inside: somebody may have changed what is to stay as it is.
      const known = await findIncidentSettings(db, project.id)
      const settings = {
        ...known,
        ...changes,
        ...(template === '' ? { issue_template_key: null } : {}),
      }
      await saveSettingsRow(db, { ...settings, project_id: project.id })
      return settings
    })
  },
})

async function assertTemplate(ctx: Ctx, project: Project, name: string, signal: AbortSignal) {
  const found = await readDescription(ctx, project, 'issues', name, signal)
  if (!found) throw badRequest('issue_template_key names no template of the project')
}
