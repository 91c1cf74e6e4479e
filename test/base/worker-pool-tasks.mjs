// @ts-check
import { loadCompiled } from '../../scripts/setup/load.mjs'
import { root } from '../../scripts/setup.mjs'

/** @type {typeof import('../../src/base/workers/worker-task.ts')} */
const { workerTask } = loadCompiled(root, 'base/workers/worker-task.js')

export const double = workerTask((/** @type {number} */ n) => n * 2)

export const forever = workerTask(() => {
  for (;;) Math.random()
})

export const fill = workerTask(() => {
  const kept = []
  for (;;) kept.push(Array.from({ length: 10_000 }, Math.random))
})

export const fail = workerTask((/** @type {string} */ message) => {
  throw new Error(message)
})
