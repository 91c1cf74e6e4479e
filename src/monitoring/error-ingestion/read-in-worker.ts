import { Problem, type ProblemBody, type ProblemCode } from '../../base/problem.ts'
import { workerTask } from '../../base/workers/worker-task.ts'
import { type ConfiguredJson, parseJsonObject } from '../../http/body/json.ts'
import { type ReportedEvent, readEvent } from '../errors/event.ts'
import { packPayloadNow } from '../errors/payload.ts'

/** The JSON of an event, and what is needed to read it. */
export interface SentEvent {
  readonly payload: Uint8Array
  readonly limits: ConfiguredJson
  readonly now: string
}

/** An error's class does not survive the way back from a worker. */
export type ReadOutcome =
  | { readonly event: ReportedEvent; readonly payload: Uint8Array }
  | {
      readonly refusal: {
        readonly code: ProblemCode
        readonly status: number
        readonly body: ProblemBody
      }
    }

/** Runs in a worker: reads and packs events, each by itself. */
export const readSentEvents = workerTask(async (sent: readonly SentEvent[]) => {
  const outcomes: ReadOutcome[] = []
  for (const one of sent) outcomes.push(await readOne(one))
  return outcomes
})

async function readOne({ payload, limits, now }: SentEvent): Promise<ReadOutcome> {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  try {
    const event = readEvent(await parseJsonObject(bytes, limits), now)
    return { event, payload: packPayloadNow(bytes) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, status, body } = error
    return { refusal: { code, status, body } }
  }
}
