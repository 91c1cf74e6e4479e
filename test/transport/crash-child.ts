import { isDeepStrictEqual } from 'node:util'
import { getVisibleProject } from '../../src/access/subjects.ts'
import { openApp } from '../../src/app.ts'
import { makeConfig } from '../../src/base/config.ts'
import { silentLog } from '../../src/base/log.ts'
import { moveRefs } from '../../src/repositories/refs/move-refs.ts'

// usage: crash-child.ts <data folder> <step or ''> [<project id> <ref> <old> <new>]
// Serves (or moves one ref), and dies without warning when it comes to the step.
const [data = '', step = '', projectId, name = '', oldId = '', newId = ''] = process.argv.slice(2)

function dieAt(reached: string): void {
  if (isDeepStrictEqual(reached, step)) process.kill(process.pid, 'SIGKILL')
}

async function run(): Promise<void> {
  const config = makeConfig({ data, port: 0, engineProcesses: 1 })
  const app = await openApp(config, { log: silentLog, atStep: dieAt })
  const { port } = await app.listen()
  process.stdout.write(`${port}\n`)
  if (projectId === undefined) return
  const ctx = app.makeCtx()
  const project = await getVisibleProject(ctx, projectId)
  await moveRefs(ctx, project, { via: 'api', moves: [{ name, oldId, newId }] }, dieAt)
  process.stdout.write('moved\n')
}

await run()
