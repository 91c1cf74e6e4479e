import { mayInProject } from '../../access/decide.ts'
import { eitherRecord, projectRecord } from '../../access/records.ts'
import type { Project } from '../../access/subjects.ts'
import { badRequest, existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { text } from '../../http/params.ts'
import { getGroupAbove } from '../access.ts'
import { type Place, placeOf, placeOfProject } from '../place.ts'
import { findLabel } from './queries.ts'

const params = { label_id: text() }

/** A label that the place knows, by number or title, or 404. */
export async function getLabel(ctx: Ctx, place: Place, idOrTitle: string, ancestors = true) {
  return existing(await findLabel(ctx.db, place, idOrTitle, ancestors), 'Label')
}

/** The label of `:label_id` that the project or group knows: its own, or one of a group above it. */
export const onLabel = eitherRecord('read_labels', {
  params,
  find: async ({ ctx, source, params: { label_id } }) => ({
    label: await getLabel(ctx, placeOf(source), label_id),
  }),
})

/** A label of a project and the group that it goes to, for those who may change the labels of both. */
export const onPromotedLabel = projectRecord('admin_label', {
  params,
  async find({ ctx, project, params: { label_id } }) {
    const refusal = 'Failed to promote project label to group label'
    const label = await getLabel(ctx, placeOfProject(project), label_id)
    const group = await getGroupAbove(ctx, project, 'admin_label', refusal)
    if (label.project_id === null) throw badRequest(refusal)
    return { label, group }
  },
})

/** Whether a title that no label has yet becomes a label of the project, or is left out. */
export function mayMakeLabels(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'admin_label')
}
