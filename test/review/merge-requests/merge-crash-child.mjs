// @ts-check
import { loadCompiled } from '../../../scripts/setup/load.mjs'
import { root } from '../../../scripts/setup.mjs'

/** @type {typeof import('../../../src/access/act-as.ts') & typeof import('../../../src/access/subjects.ts') & typeof import('../../../src/app.ts') & typeof import('../../../src/base/config.ts') & typeof import('../../../src/base/log.ts') & typeof import('../../../src/review/merge-requests/merge/merge.ts')} */
const parts = loadCompiled(root, 'test-parts.cjs')
const { actAs, getVisibleProject, openApp, makeConfig, silentLog, mergeNow } = parts

// usage: merge-crash-child.mjs <data folder> <step> <user id> <project id> <merge request id>
// Merges, and dies without warning when it comes to the step.
const [data = '', step = '', userId = '', projectId = '', id = ''] = process.argv.slice(2)

// A health check would look at all data meanwhile.
const config = makeConfig({ data, port: 0, engineProcesses: 1, healthSchedule: 'off' })
const app = await openApp(config, { log: silentLog })
const ctx = await actAs(app.makeCtx(), Number(userId))
const project = await getVisibleProject(ctx, projectId)
await mergeNow(ctx, project, Number(id), { removeSourceBranch: true }, (reached) => {
  if (reached === step) process.kill(process.pid, 'SIGKILL')
})
process.stdout.write('merged\n')
await app.close()
