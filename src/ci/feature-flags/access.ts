import { projectRecord } from '../../access/records.ts'
import { notFound } from '../../base/problem.ts'
import { integer, text } from '../../http/params.ts'
import { findFlag, findUserList } from './queries.ts'

export const onFeatureFlag = projectRecord('read_feature_flags', {
  params: { feature_flag_name: text({ max: 63 }) },
  async find({ ctx, project, params }) {
    const feature = await findFlag(ctx.db, project.id, params.feature_flag_name)
    if (!feature) throw notFound()
    return { feature }
  },
})

export const onUserList = projectRecord('read_feature_flags', {
  params: { iid: integer() },
  async find({ ctx, project, params }) {
    const list = await findUserList(ctx.db, project.id, params.iid)
    if (!list) throw notFound()
    return { list }
  },
})
