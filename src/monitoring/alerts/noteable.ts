import type { Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { NoteKind } from '../../discussions/notes/kind.ts'
import { noteEndpoints } from '../../discussions/notes/note-routes.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { integer } from '../../http/params.ts'
import { alertUrl } from './entity.ts'
import { type AlertRow, findAlert } from './queries.ts'

/** The alert as notes need to know it. */
export function alertNoteable(ctx: Ctx, project: Project, row: AlertRow): Noteable {
  return {
    type: 'Alert',
    id: row.id,
    commitId: null,
    iid: row.iid,
    project,
    authorId: null,
    locked: false,
    title: row.title,
    webUrl: alertUrl(ctx, project, row.iid),
  }
}

const kind: NoteKind = {
  path: '/projects/:id/alert_management_alerts/:alert_iid',
  params: { alert_iid: integer() },
  tag: 'notes',
  ability: 'read_alerts',
  resolvable: false,
  async find(ctx, project, params) {
    const row = await findAlert(ctx.db, project.id, Number(params.alert_iid))
    if (!row) throw notFound('Alert')
    return alertNoteable(ctx, project, row)
  },
}

export const alertNotes = noteEndpoints(kind)
