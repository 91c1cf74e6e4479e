// Started by runner.test.ts and killed in the middle of its tasks: argument 1 is the data folder.
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { migrations } from '../../src/areas.ts'
import { makeWork } from '../../src/background/queue.ts'
import { TaskRunner } from '../../src/background/runner.ts'
import { task } from '../../src/background/task.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { openStore } from '../../src/store/connection.ts'

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
