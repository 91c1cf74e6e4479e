import { fork } from 'node:child_process'
import { join } from 'node:path'
import { gitEnvironment } from './measure.ts'

export interface HttpCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export interface GitCall {
  readonly folder: string
  readonly args: readonly string[]
  readonly input?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

export type Call = { readonly http: HttpCall } | { readonly git: GitCall }

/** Measures requests and git programs, both from one small process. */
export interface Timer {
  /** Milliseconds from asking to the last byte of a good answer. */
  http(call: HttpCall): Promise<number>
  /** As `http`, and the milliseconds to the first byte of the body. */
  answer(call: HttpCall): Promise<Times>
  /** Milliseconds from starting git to its end. */
  git(
    folder: string,
    args: readonly string[],
    options?: { readonly input?: string; readonly env?: Readonly<Record<string, string>> },
  ): Promise<number>
  /** Milliseconds of each of some calls, made one right after the other. */
  block(calls: readonly Call[]): Promise<readonly number[]>
  /** Milliseconds until all of some requests, asked at once on connections of their own, are answered. */
  crowd(calls: readonly HttpCall[]): Promise<number>
  stop(): void
}

interface Times {
  readonly milliseconds: number
  readonly first: number
}

interface Answer {
  readonly id: number
  readonly milliseconds?: number
  readonly first?: number
  readonly times?: readonly { readonly milliseconds: number }[]
  readonly failure?: string
}

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

export function startTimer(): Timer {
  const child = fork(join(import.meta.dirname, 'timer-process.mjs'), [], { execArgv: [] })
  const waiting = new Map<number, Waiting>()
  let last = 0
  child.on('message', (answer: Answer) => {
    const one = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (answer.failure === undefined) one?.resolve(answer)
    else one?.reject(new Error(answer.failure))
  })
  const send = (call: object) =>
    new Promise<Answer>((resolve, reject) => {
      last += 1
      waiting.set(last, { resolve, reject })
      child.send({ id: last, ...call })
    })
  const timesOf = ({ milliseconds = Number.NaN, first = 0 }: Answer) => ({ milliseconds, first })
  return {
    http: async (http) => timesOf(await send({ http })).milliseconds,
    answer: async (http) => timesOf(await send({ http })),
    git: async (folder, args, more = {}) =>
      timesOf(await send(whole({ git: { folder, args, ...more } }))).milliseconds,
    async block(calls) {
      const { times = [] } = await send({ block: calls.map(whole) })
      return times.map((each) => each.milliseconds)
    },
    crowd: async (calls) => timesOf(await send({ crowd: calls })).milliseconds,
    stop: () => child.disconnect(),
  }
}

/** A call with the environment that every git gets. */
function whole(call: Call): Call {
  if ('http' in call) return call
  return { git: { ...call.git, env: { ...gitEnvironment, ...call.git.env } } }
}
