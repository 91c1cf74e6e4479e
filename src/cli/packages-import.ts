import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { findProjectByPath } from '../access/find-queries.ts'
import { withProjectRole } from '../access/subjects.ts'
import { IMPORT_KINDS, importFolder } from '../packages/import/import-folder.ts'
import { command, UsageError } from './command.ts'
import { withData } from './open.ts'

export const packagesImport = command({
  name: 'packages import',
  summary: 'Publish the packages of a folder that was carried over on a disk',
  args: ['folder'],
  options: {
    into: { type: 'string', value: '<group/name>', doc: 'Full path of the project' },
    type: {
      type: 'string',
      value: '<word>',
      doc: `What the folder holds: ${IMPORT_KINDS.join(', ')}`,
    },
  },
  async run(call) {
    const kind = IMPORT_KINDS.find((one) => one === call.options.type)
    if (!kind) throw new UsageError(`--type must be one of ${IMPORT_KINDS.join(', ')}`)
    if (!call.options.into) throw new UsageError('--into needs the full path of a project')
    const into = call.options.into
    const folder = resolve(call.args[0] ?? '')
    if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
      throw new UsageError(`${folder} is no folder`)
    }
    return await withData(call, async (ctx) => {
      const row = await findProjectByPath(ctx.db, into)
      if (!row) throw new UsageError(`there is no project ${into}`)
      const project = await withProjectRole(ctx, row)
      const report = await importFolder(ctx, project, folder, {
        kind,
        signal: call.signal,
        onFile: (path) => call.progress.say(path),
      })
      const lines = report.refused.map(({ file, reason }) => `refused ${file}: ${reason}`)
      const { imported, known, refused } = report
      return {
        lines: [
          ...lines,
          `${imported} published, ${known} there already, ${refused.length} refused`,
        ],
        data: report,
        exitCode: refused.length > 0 ? 1 : 0,
      }
    })
  },
})
