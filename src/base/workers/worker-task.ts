import { parentPort } from 'node:worker_threads'

/** What the pool passes to a task. */
export interface WorkerInput<Input> {
  readonly id: number
  readonly input: Input
}

/** Makes a function one that `WorkerPool` can call. Its time counts from here, not while its module is loaded. */
export function workerTask<Input, Output>(act: (input: Input) => Output) {
  return ({ id, input }: WorkerInput<Input>): Output => {
    parentPort?.postMessage({ started: id })
    return act(input)
  }
}
