import { fork } from 'node:child_process'
import { join } from 'node:path'
import { gitEnvironment } from './measure.ts'

interface HttpCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

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
  readonly failure?: string
}

interface Waiting {
  resolve(times: Times): void
  reject(error: Error): void
}

export function startTimer(): Timer {
  const child = fork(join(import.meta.dirname, 'timer-process.mjs'), [], { execArgv: [] })
  const waiting = new Map<number, Waiting>()
  let last = 0
  child.on('message', ({ id, milliseconds, first = 0, failure }: Answer) => {
    const one = waiting.get(id)
    waiting.delete(id)
    if (milliseconds === undefined) one?.reject(new Error(failure))
    else one?.resolve({ milliseconds, first })
  })
  const send = (call: object) =>
    new Promise<Times>((resolve, reject) => {
      last += 1
      waiting.set(last, { resolve, reject })
      child.send({ id: last, ...call })
    })
  return {
    http: async (call) => (await send({ http: call })).milliseconds,
    answer: (call) => send({ http: call }),
    async git(folder, args, { input, env } = {}) {
      const git = { folder, args, input, env: { ...gitEnvironment, ...env } }
      return (await send({ git })).milliseconds
    },
    stop: () => child.disconnect(),
  }
}
