import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { ChangelogFailure } from './failure.ts'
import type { UserWork, WorkerAnswer } from './user-work.ts'

/** Limit of docs/contract/B-resolved §1.8 rule 2; the time that a worker takes to start is not the user's. */
const milliseconds = 2000

function startWorker(task: unknown): Worker {
  const options = { workerData: task, env: {}, resourceLimits: { maxOldGenerationSizeMb: 128 } }
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./user-worker.js', import.meta.url), options)
  }
  // From source: a worker thread does not inherit the TypeScript loader.
  const commonJs = createRequire(import.meta.url).resolve('tsx/esm/api')
  const loader = pathToFileURL(commonJs.replace(/\.cjs$/, '.mjs')).href
  const file = new URL('./user-worker.ts', import.meta.url).href
  const start = `import('${loader}').then((tsx) => { tsx.register(); return import('${file}') })`
  return new Worker(start, { ...options, eval: true })
}

/**
 * Runs a part of the changelog that works on a user's text in a worker thread, so that requests go on
 * meanwhile, and ends it after two seconds.
 */
export function runLimited<Name extends keyof UserWork>(
  name: Name,
  input: Parameters<UserWork[Name]>[0],
): Promise<ReturnType<UserWork[Name]>> {
  return new Promise((resolve, reject) => {
    const worker = startWorker({ name, input })
    let timer: NodeJS.Timeout | undefined
    const expire = () => {
      reject(new ChangelogFailure('The changelog configuration takes longer than 2 seconds'))
      void worker.terminate()
    }
    worker.on('message', (answer: WorkerAnswer) => {
      if ('ready' in answer) {
        timer = setTimeout(expire, milliseconds)
        return
      }
      // The worker answers the very task it was started with.
      if ('value' in answer) resolve(answer.value as ReturnType<UserWork[Name]>)
      else if ('failure' in answer) reject(new ChangelogFailure(answer.failure))
      else reject(new Error(answer.bug))
      clearTimeout(timer)
      void worker.terminate()
    })
    worker.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      reject(memory ? new ChangelogFailure('The changelog configuration is too large') : error)
    })
    worker.once('exit', () => {
      clearTimeout(timer)
      reject(new Error('the changelog worker ended without an answer'))
    })
  })
}
