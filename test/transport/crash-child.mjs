// @ts-check
import { createInterface } from 'node:readline'
import { loadCompiled } from '../../scripts/setup/load.mjs'
import { root, setUpOrExit } from '../../scripts/setup.mjs'

// usage: crash-child.mjs <data folder>
// Serves, and prints its port. Each line that it reads is an order of crash-server.ts: the step at which it is to die
// without warning, and perhaps a ref to move. It loads the sources compiled and in one file.
await setUpOrExit()
/** @type {typeof import('../../src/app.ts') & typeof import('../../src/base/config.ts') & typeof import('../../src/base/log.ts') & typeof import('../../src/access/subjects.ts') & typeof import('../../src/repositories/refs/move-refs.ts')} */
const parts = loadCompiled(root, 'test-parts.cjs')
const { openApp, makeConfig, silentLog, getVisibleProject, moveRefs } = parts

let step = ''

/** @param {string} reached */
function dieAt(reached) {
  if (reached === step) process.kill(process.pid, 'SIGKILL')
}

// A health check would look at all data meanwhile.
const checks = { healthSchedule: 'off' }
const config = makeConfig({ data: process.argv[2] ?? '', port: 0, engineProcesses: 1, ...checks })
const app = await openApp(config, { log: silentLog, atStep: dieAt })
const { port } = await app.listen()
process.stdout.write(`${port}\n`)

/** @param {import('./crash-server.ts').Order} order */
async function obey(order) {
  step = order.step
  if (order.move) {
    const { project, ...move } = order.move
    const ctx = app.makeCtx()
    const found = await getVisibleProject(ctx, String(project))
    await moveRefs(ctx, found, { via: 'api', moves: [move] }, dieAt)
  }
  process.stdout.write('done\n')
}

for await (const line of createInterface({ input: process.stdin })) await obey(JSON.parse(line))
