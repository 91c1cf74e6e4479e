import { z } from 'zod'

/** Tasks by name, for those who enqueue them: what they do needs the whole of this folder. */
export const delayedJob = {
  name: 'pipelines.start_delayed_job',
  payload: z.object({ job_id: z.int() }),
}

export const bridgeJob = {
  name: 'pipelines.run_bridge',
  payload: z.object({ job_id: z.int() }),
}

export const finishedDownstream = {
  name: 'pipelines.finish_bridge',
  payload: z.object({ pipeline_id: z.int() }),
}

export const endedJob = {
  name: 'pipelines.follow_job_end',
  payload: z.object({ job_id: z.int() }),
}

export const startedPipeline = {
  name: 'pipelines.start',
  payload: z.object({ pipeline_id: z.int() }),
}
