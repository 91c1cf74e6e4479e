import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { Project } from '../../access/subjects.ts'
import { normalName } from '../../base/name-pattern.ts'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { publishFile } from '../registry/publish.ts'
import { storeFile } from '../registry/receive.ts'
import { assertFileName, assertPypiName, normalVersion } from './names.ts'
import { describeDistribution } from './wheel-metadata.ts'

/** Publishes a wheel or source archive by what its name says: name and version stand in it by convention. */
export async function importDistribution(
  ctx: Ctx,
  project: Project,
  file: string,
): Promise<'imported' | 'known'> {
  const fileName = basename(file)
  const [, name = '', version = ''] =
    /^(.+?)-([^-]+)(?:-[^/]*)?\.whl$/.exec(fileName) ??
    /^(.+)-([^-]+)\.tar\.gz$/.exec(fileName) ??
    []
  const versionKey = normalVersion(version)
  if (versionKey === undefined) throw badRequest('The name of the file has no version')
  assertPypiName(name)
  assertFileName(fileName, name)
  const received = await storeFile(ctx, 'pypi', createReadStream(file))
  const described = await describeDistribution(ctx, received, fileName)
  const known = new Problem('conflict', 409, { message: 'File name has already been taken' })
  try {
    await publishFile(ctx, project, {
      type: 'pypi',
      name,
      nameKey: normalName(name),
      version,
      versionKey,
      file: { name: fileName, received, metadata: described },
      refuse: (found) => found.file && known,
    })
    return 'imported'
  } catch (error) {
    if (error === known) return 'known'
    throw error
  }
}
