import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { answerPackageFile } from '../registry/download.ts'
import { checksumOf, type MavenPath } from './path.ts'
import { findMavenFile, type MavenPlace } from './queries.ts'

const types: Readonly<Record<string, string>> = {
  jar: 'application/java-archive',
  pom: 'application/xml',
  sha256: 'text/plain',
  sha512: 'text/plain',
  war: 'application/java-archive',
  xml: 'application/xml',
}

/** A file for Maven; `.sha1` and `.md5` are worked out from what is stored. */
export async function answerMavenFile(
  ctx: Ctx,
  place: MavenPlace,
  path: MavenPath,
  request: RequestFacts,
): Promise<Bytes> {
  const checksum = checksumOf(path.fileName)
  const of = checksum ? { ...path, fileName: checksum.of } : path
  const file = await findMavenFile(ctx, place, of)
  if (!file) throw notFound('Package file')
  if (checksum) {
    const sum = checksum.kind === 'sha1' ? file.file_sha1 : file.file_md5
    return { body: sum, type: 'text/plain' }
  }
  const end = path.fileName.split('.').at(-1) ?? ''
  return await answerPackageFile(ctx, request, file, {
    type: (Object.hasOwn(types, end) ? types[end] : undefined) ?? 'application/octet-stream',
    headers: { 'X-Checksum-SHA1': file.file_sha1, 'X-Checksum-MD5': file.file_md5 },
  })
}
