import { actAs } from '../../../src/access/act-as.ts'
import { getVisibleProject } from '../../../src/access/subjects.ts'
import { openApp } from '../../../src/app.ts'
import { makeConfig } from '../../../src/base/config.ts'
import { silentLog } from '../../../src/base/log.ts'
import { mergeNow } from '../../../src/review/merge-requests/merge/merge.ts'

// usage: merge-crash-child.ts <data folder> <step> <user id> <project id> <merge request id>
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
