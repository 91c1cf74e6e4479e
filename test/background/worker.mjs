// @ts-check
// Started by runner.test.ts and killed in the middle of its tasks: argument 1 is the data folder.
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { loadCompiled } from '../../scripts/setup/load.mjs'
import { root } from '../../scripts/setup.mjs'

/** @type {typeof import('../../src/areas.ts')} */
const { migrations } = loadCompiled(root, 'areas.js')
/** @type {typeof import('../../src/background/queue.ts')} */
const { makeWork } = loadCompiled(root, 'background/queue.js')
/** @type {typeof import('../../src/background/runner.ts')} */
const { TaskRunner } = loadCompiled(root, 'background/runner.js')
/** @type {typeof import('../../src/background/task.ts')} */
const { task } = loadCompiled(root, 'background/task.js')
/** @type {typeof import('../../src/base/clock.ts')} */
const { systemClock } = loadCompiled(root, 'base/clock.js')
/** @type {typeof import('../../src/base/log.ts')} */
const { silentLog } = loadCompiled(root, 'base/log.js')
/** @type {typeof import('../../src/store/connection.ts')} */
const { openStore } = loadCompiled(root, 'store/connection.js')

const folder = process.argv[2] ?? ''
const { db } = openStore(folder, { migrations })
const note = task({
  name: 'test.note',
  payload: z.object({ n: z.number() }),
  async handler(_ctx, { n }) {
    appendFileSync(`${folder}/begun`, `${n}\n`)
    process.stdout.write(`${n}\n`)
    await pause(20)
    appendFileSync(`${folder}/ended`, `${n}\n`)
  },
})
const ctx = { db, work: makeWork(systemClock), log: silentLog, now: systemClock }
const runner = new TaskRunner({ tasks: [note], makeCtx: () => ctx })
await runner.start()
process.stdin.resume()
