import { eitherRecord } from '../../access/records.ts'
import { notFound } from '../../base/problem.ts'
import { text } from '../../http/params.ts'
import { listVariablesOf, placeOf } from './queries.ts'

/** The variables of `:key` of a project or group: one for each scope; 404 when there is none. */
export const onVariable = eitherRecord('read_ci_variables', {
  params: { key: text({ max: 255 }) },
  async find({ ctx, source, params }) {
    const variables = await listVariablesOf(ctx.db, placeOf(source), params.key)
    if (variables.length === 0) throw notFound('Variable')
    return { variables }
  },
})
