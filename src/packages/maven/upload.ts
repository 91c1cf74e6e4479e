import type { Project } from '../../access/subjects.ts'
import { badRequest, conflict, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { assertMayPush } from '../protection/conditions.ts'
import { publishFile } from '../registry/publish.ts'
import { readSmallBody, receiveFile } from '../registry/receive.ts'
import { mayDuplicate } from '../settings/settings.ts'
import { assertReadable } from './check.ts'
import { checksumOf, isMetadata, type MavenPath, withoutBuild } from './path.ts'
import { findMavenFile, listFileNames } from './queries.ts'

type Body = Pick<RequestFacts, 'headers' | 'body'>

/** Takes one file of `mvn deploy`: a file to keep, or a checksum of one that is there. Gives the status. */
export async function putMavenFile(
  ctx: Ctx,
  project: Project,
  path: MavenPath,
  request: Body,
): Promise<200 | 204> {
  const checksum = checksumOf(path.fileName)
  if (checksum?.kind === 'md5') return 200
  if (checksum) {
    await assertSameSum(ctx, project, { ...path, fileName: checksum.of }, request)
    return 204
  }
  await keepFile(ctx, project, path, request)
  return 200
}

/** The SHA-1 that a client sends after a file shows whether it arrived whole. */
async function assertSameSum(
  ctx: Ctx,
  project: Project,
  path: MavenPath,
  request: Body,
): Promise<void> {
  const sum = (await readSmallBody(request, 1024)).toString('utf8').trim().split(/\s/)[0]
  const file = await findMavenFile(ctx, { projectId: project.id }, path)
  if (!file) throw notFound('Package file')
  if (sum?.toLowerCase() !== file.file_sha1) throw conflict('409 Conflict')
}

async function keepFile(ctx: Ctx, project: Project, path: MavenPath, request: Body): Promise<void> {
  const { name, version, fileName } = path
  await assertMayPush(ctx, project, 'maven', name)
  const mayRepeat =
    isMetadata(fileName) || (await mayDuplicate(ctx, project, 'maven', [name, version ?? '']))
  const received = await receiveFile(ctx, 'maven', request)
  await assertReadable(ctx, path, received)
  await publishFile(ctx, project, {
    type: 'maven',
    name,
    version,
    file: { name: fileName, received },
    async check(db) {
      if (mayRepeat) return
      const names = await listFileNames(db, project.id, path)
      if (names.some((one) => withoutBuild(one) === withoutBuild(fileName))) {
        throw badRequest('Duplicate package is not allowed')
      }
    },
  })
}
