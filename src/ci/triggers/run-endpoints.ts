import type { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { fault, filledText, parameter, text } from '../../http/params.ts'
import type { RunVariable } from '../pipelines/create/pipeline-input.ts'
import { isVariableKey, LONGEST_VALUE, runInputs } from '../pipelines/create/run-params.ts'
import { describePipeline, pipelineEntity } from '../pipelines/describe-pipeline.ts'
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
  request: RequestFacts,
  id: string,
  given: {
    readonly token: string
    readonly ref: string
    readonly variables?: TriggerInput['variables'] | undefined
    readonly inputs?: TriggerInput['inputs'] | undefined
  },
) {
  const { variables = [], inputs = {}, ...rest } = given
  const payload = webhookPayload(request.received)
  const all = payload === undefined ? variables : [...variables, payload]
  const made = await runTrigger(ctx, id, { ...rest, variables: all, inputs })
  return await describePipeline(made.ctx, made.project, made.pipeline)
}

/** What callers of triggers send; everything beside is the body of a webhook. */
const OWN: readonly string[] = ['token', 'ref', 'variables', 'inputs']

/** The body of a webhook, as a file of the jobs that it starts (docs/contract/D §1.17). */
function webhookPayload(received: RequestFacts['received']): RunVariable | undefined {
  const { token: _, ...payload } = received
  if (Object.keys(payload).every((name) => OWN.includes(name))) return undefined
  return { key: 'TRIGGER_PAYLOAD', value: JSON.stringify(payload), variable_type: 'file' }
}

export const triggerPipeline = endpoint({
  ...common,
  path: '/projects/:id/trigger/pipeline',
  summary: 'Start a pipeline with a trigger token or the token of a job',
  params: { id: text() },
  body: { ...body, ref: filledText({ max: 1024 }) },
  handler: ({ ctx, params, body, request }) => run(ctx, request, params.id, body),
})

export const triggerPipelineOfRef = endpoint({
  ...common,
  path: '/projects/:id/ref/:ref/trigger/pipeline',
  summary: 'Start a pipeline of a ref with a trigger token or the token of a job',
  params: { id: text(), ref: text({ max: 1024 }) },
  body,
  handler: ({ ctx, params, body, request }) =>
    run(ctx, request, params.id, { ...body, ref: params.ref }),
})
