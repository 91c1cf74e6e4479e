import { workerTask } from '../../src/base/workers/worker-task.ts'

export const double = workerTask((n: number) => n * 2)

export const forever = workerTask(() => {
  for (;;) Math.random()
})

export const fill = workerTask(() => {
  const kept: number[][] = []
  for (;;) kept.push(Array.from({ length: 10_000 }, Math.random))
})

export const fail = workerTask((message: string) => {
  throw new Error(message)
})
