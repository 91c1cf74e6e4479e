import { invalid } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, text } from '../../http/params.ts'
import { uniquely } from '../../store/unique.ts'
import { isVariableKey } from '../pipelines/create/run-params.ts'
import { onSchedule, onScheduleVariable } from './access.ts'
import { presentScheduleVariable, SCHEDULE_PURPOSE, scheduleVariableEntity } from './entity.ts'
import { variableParameters } from './params.ts'
import {
  deleteScheduleVariable,
  insertScheduleVariable,
  updateScheduleVariable,
} from './queries.ts'

const common = { response: scheduleVariableEntity } as const
const path = '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables'

export const addScheduleVariable = endpoint({
  ...common,
  method: 'POST',
  path,
  summary: 'Add a variable to the pipelines of a schedule',
  access: onSchedule('change_schedule'),
  body: { key: text({ max: 255 }), ...variableParameters },
  status: 201,
  async handler({ ctx, schedule, body }) {
    if (!isVariableKey(body.key)) {
      throw invalid({ key: ["can contain only letters, digits and '_'."] })
    }
    const taken = () => invalid({ key: [`(${body.key}) has already been taken`] })
    const row = await uniquely(
      { 'ci_schedule_variables.schedule_id, ci_schedule_variables.key': taken },
      () =>
        insertScheduleVariable(ctx.db, {
          schedule_id: schedule.id,
          key: body.key,
          sealed_value: ctx.vault.seal(body.value, SCHEDULE_PURPOSE),
          variable_type: body.variable_type ?? 'env_var',
        }),
    )
    return presentScheduleVariable(ctx, row)
  },
})

export const getScheduleVariable = endpoint({
  ...common,
  method: 'GET',
  path: `${path}/:key`,
  summary: 'Read a variable of a schedule',
  access: onScheduleVariable('change_schedule'),
  handler: ({ ctx, variable }) => presentScheduleVariable(ctx, variable),
})

export const editScheduleVariable = endpoint({
  ...common,
  method: 'PUT',
  path: `${path}/:key`,
  summary: 'Change a variable of a schedule',
  access: onScheduleVariable('change_schedule'),
  body: { ...variableParameters, value: variableParameters.value.optional() },
  check: atLeastOne(['value', 'variable_type']),
  async handler({ ctx, variable, body: { value, variable_type } }) {
    const row = await updateScheduleVariable(ctx.db, variable.id, {
      ...(value === undefined ? {} : { sealed_value: ctx.vault.seal(value, SCHEDULE_PURPOSE) }),
      ...(variable_type === undefined ? {} : { variable_type }),
    })
    return presentScheduleVariable(ctx, row)
  },
})

/** Answers 202 with what was taken away (docs/contract/D §1.18). */
export const dropScheduleVariable = endpoint({
  ...common,
  method: 'DELETE',
  path: `${path}/:key`,
  summary: 'Remove a variable from a schedule',
  access: onScheduleVariable('change_schedule'),
  status: 202,
  async handler({ ctx, variable }) {
    await deleteScheduleVariable(ctx.db, variable.id)
    return presentScheduleVariable(ctx, variable)
  },
})
