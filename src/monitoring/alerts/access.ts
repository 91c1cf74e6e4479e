import { actAs } from '../../access/act-as.ts'
import { mayInProject } from '../../access/decide.ts'
import { findProjectById } from '../../access/find-queries.ts'
import { projectRecord } from '../../access/records.ts'
import { assertMayInProject, type Project, withProjectRole } from '../../access/subjects.ts'
import { notFound, notFoundText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id, integer } from '../../http/params.ts'
import { findMetricImage } from './image-queries.ts'
import { findAlert } from './queries.ts'

/** Who may not read alerts of a project doesn't learn which there are (docs/contract/C-resolved §1.5). */
export const onAlert = projectRecord('read_project', {
  params: { alert_iid: integer() },
  async find({ ctx, project, params }) {
    const may = mayInProject(ctx.actor, project, 'read_alerts')
    const alert = may ? await findAlert(ctx.db, project.id, params.alert_iid) : undefined
    if (!alert) throw notFound('Alert')
    return { alert }
  },
})

/** The alert of an image, for adding to it (docs/contract/C-resolved §1.6). */
export const onAlertImages = projectRecord('read_project', {
  params: { alert_iid: integer() },
  async find({ ctx, project, params }) {
    return { alert: await alertOfImages(ctx, project.id, params.alert_iid) }
  },
})

/** As `onAlertImages`, for those who look: who may not read alerts doesn't learn which there are. */
export const onAlertImageList = projectRecord('read_project', {
  params: { alert_iid: integer() },
  async find({ ctx, project, params }) {
    if (!mayInProject(ctx.actor, project, 'read_alerts')) throw noAlert()
    return { alert: await alertOfImages(ctx, project.id, params.alert_iid) }
  },
})

export const onMetricImage = projectRecord('read_project', {
  params: { alert_iid: integer(), image_id: id() },
  async find({ ctx, project, params }) {
    const alert = await alertOfImages(ctx, project.id, params.alert_iid)
    const image = await findMetricImage(ctx.db, alert.id, params.image_id)
    if (!image) throw notFoundText('Metric image not found')
    return { alert, image }
  },
})

const noAlert = () => notFoundText('Alert not found')

async function alertOfImages({ db }: Ctx, projectId: number, iid: number) {
  const alert = await findAlert(db, projectId, iid)
  if (!alert) throw noAlert()
  return alert
}

/** The alert that an incident is to be opened for, by somebody who may create issues too. */
export const onAlertOfIncident = projectRecord('read_project', {
  params: { alert_iid: integer() },
  async find({ ctx, project, params }) {
    const may = mayInProject(ctx.actor, project, 'read_alerts')
    const alert = may ? await findAlert(ctx.db, project.id, params.alert_iid) : undefined
    if (!alert) throw notFound('Alert')
    assertMayInProject(ctx, project, 'create_issue')
    return { alert }
  },
})

/** Whether a person, who need not be the caller, may do something in a project that they see. */
export async function mayPerson(
  ctx: Ctx,
  project: Project,
  userId: number,
  ability: 'read_alerts' | 'update_alerts',
): Promise<boolean> {
  const person = await actAs(ctx, userId)
  const isKnown = person.actor.kind === 'user' && person.actor.user.id === userId
  const row = isKnown ? await findProjectById(ctx.db, project.id) : undefined
  const seen = row && (await withProjectRole(person, row))
  return seen !== undefined && mayInProject(person.actor, seen, ability)
}
