import type { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fault, filledText, parameter, text } from '../../http/params.ts'
import { describePipeline, pipelineEntity } from '../pipelines/describe-pipeline.ts'
import type { RunVariable } from '../pipelines/pipeline-input.ts'
import { isVariableKey, LONGEST_VALUE, runInputs } from '../pipelines/run-params.ts'
import { runTrigger, type TriggerInput } from './run-trigger.ts'

const MOST_VARIABLES = 1000

/** `variables[KEY]=value`: a map of texts. */
function variableMap(): z.ZodType<RunVariable[]> {
  return parameter({ type: 'object', additionalProperties: { type: 'string' } }, (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return fault.invalid
    const entries = Object.entries(raw)
    if (entries.length > MOST_VARIABLES) return fault.invalid
    const found: RunVariable[] = []
    for (const [key, value] of entries) {
      if (!isVariableKey(key) || typeof value !== 'string' || value.length > LONGEST_VALUE) {
        return fault.says('needs to be a map of key-valued strings')
      }
      found.push({ key, value, variable_type: 'env_var' })
    }
    return found
  })
}

const common = {
  method: 'POST',
  tags: ['triggers'],
  access: anyone(),
  ownSignIn: true,
  response: pipelineEntity,
  status: 201,
} as const
const body = {
  token: filledText({ max: 255 }),
  variables: variableMap().optional(),
  inputs: runInputs().optional(),
}

async function run(
  ctx: Ctx,
  id: string,
  given: {
    readonly token: string
    readonly ref: string
    readonly variables?: TriggerInput['variables'] | undefined
    readonly inputs?: TriggerInput['inputs'] | undefined
  },
) {
  const { variables = [], inputs = {}, ...rest } = given
  const made = await runTrigger(ctx, id, { ...rest, variables, inputs })
  return await describePipeline(made.ctx, made.project, made.pipeline)
}

export const triggerPipeline = endpoint({
  ...common,
  path: '/projects/:id/trigger/pipeline',
  summary: 'Start a pipeline with a trigger token or the token of a job',
  params: { id: text() },
  body: { ...body, ref: filledText({ max: 1024 }) },
  handler: ({ ctx, params, body }) => run(ctx, params.id, body),
})

export const triggerPipelineOfRef = endpoint({
  ...common,
  path: '/projects/:id/ref/:ref/trigger/pipeline',
  summary: 'Start a pipeline of a ref with a trigger token or the token of a job',
  params: { id: text(), ref: text({ max: 1024 }) },
  body,
  handler: ({ ctx, params, body }) => run(ctx, params.id, { ...body, ref: params.ref }),
})
