import { parentPort, workerData } from 'node:worker_threads'
import { ChangelogFailure } from './failure.ts'
import { userWork, type WorkerAnswer, type WorkerTask } from './user-work.ts'

/* The entry of a worker thread that run-limited.ts starts: one task, one answer. */

function answer(task: WorkerTask): WorkerAnswer {
  try {
    if (task.name === 'config') return { value: userWork.config(task.input) }
    if (task.name === 'previousTag') return { value: userWork.previousTag(task.input) }
    return { value: userWork.template(task.input) }
  } catch (error) {
    if (error instanceof ChangelogFailure) return { failure: error.message }
    return { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

// Loading the code is not the user's time: the clock starts now.
parentPort?.postMessage({ ready: true } satisfies WorkerAnswer)
// Whoever starts this file passes a task; there is no other way in.
parentPort?.postMessage(answer(workerData as WorkerTask))
