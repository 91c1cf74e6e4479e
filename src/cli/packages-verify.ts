import { packageSizesByProject, verifyPackageFiles } from '../packages/operator/verify.ts'
import { command } from './command.ts'
import { withData } from './open.ts'

const words = {
  missing: 'is missing',
  size: 'has another size',
  content: 'has other content than its hash',
} as const

export const packagesVerify = command({
  name: 'packages verify',
  summary: 'Read every file of every package and compare it with its hash',
  args: [],
  options: {},
  run: (call) =>
    withData(call, async (ctx) => {
      const { files, damages } = await verifyPackageFiles(ctx, {
        signal: call.signal,
        onFile: (count) => call.progress.say(`${count} files`),
      })
      const lines = damages.map(({ file, what }) => `FAILURE ${file} ${words[what]}`)
      return {
        lines: [...lines, `${files} files read, ${damages.length} damaged`],
        data: { files, damages },
        exitCode: damages.length > 0 ? 1 : 0,
      }
    }),
})

export const packagesSizes = command({
  name: 'packages sizes',
  summary: 'Show how much the packages of each project take',
  args: [],
  options: {},
  run: (call) =>
    withData(call, async (ctx) => {
      const projects = await packageSizesByProject(ctx)
      const lines = projects.map(
        (one) => `${String(one.bytes).padStart(15)}  ${one.full_path}  (${one.packages} packages)`,
      )
      return { lines: lines.length > 0 ? lines : ['no packages yet'], data: projects }
    }),
})
