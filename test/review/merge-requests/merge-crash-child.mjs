// @ts-check
import { loadCompiled } from '../../../scripts/setup/load.mjs'
import { root } from '../../../scripts/setup.mjs'

/** @type {typeof import('../../../src/access/act-as.ts')} */
const { actAs } = loadCompiled(root, 'access/act-as.js')
/** @type {typeof import('../../../src/access/subjects.ts')} */
const { getVisibleProject } = loadCompiled(root, 'access/subjects.js')
/** @type {typeof import('../../../src/app.ts')} */
const { openApp } = loadCompiled(root, 'app.js')
/** @type {typeof import('../../../src/base/config.ts')} */
const { makeConfig } = loadCompiled(root, 'base/config.js')
/** @type {typeof import('../../../src/base/log.ts')} */
const { silentLog } = loadCompiled(root, 'base/log.js')
/** @type {typeof import('../../../src/review/merge-requests/merge/merge.ts')} */
const { mergeNow } = loadCompiled(root, 'review/merge-requests/merge/merge.js')

// usage: merge-crash-child.mjs <data folder> <step> <user id> <project id> <merge request id>
// Merges, and dies without warning when it comes to the step.
const [data = '', step = '', userId = '', projectId = '', id = ''] = process.argv.slice(2)

const app = await openApp(makeConfig({ data, port: 0, engineProcesses: 1 }), { log: silentLog })
const ctx = await actAs(app.makeCtx(), Number(userId))
const project = await getVisibleProject(ctx, projectId)
await mergeNow(ctx, project, Number(id), { removeSourceBranch: true }, (reached) => {
  if (reached === step) process.kill(process.pid, 'SIGKILL')
})
process.stdout.write('merged\n')
await app.close()
