import { Readable } from 'node:stream'
import type { Project } from '../../access/subjects.ts'
import { existing, notAcceptable } from '../../base/problem.ts'
import { FileBody } from '../../base/streams/file-body.ts'
import type { Ctx } from '../../ctx.ts'
import { archiveFormat, openArchive } from '../../git/archive/archive.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import type { Repo } from '../../git/repo.ts'
import type { ByteRange } from '../../http/byte-range.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { csv, flag, text } from '../../http/params.ts'
import { lfsFiles } from '../lfs/objects.ts'
import { refOrDefault } from './access.ts'
import { orNotFound } from './missing.ts'

/** What an archive leaves out and takes in. */
export const archiveQuery = {
  path: text().optional(),
  include_lfs_blobs: flag().default(true),
  exclude_paths: csv(text(), { max: 1000 }).optional(),
}

interface ArchiveQuery {
  readonly sha?: string | undefined
  readonly path?: string | undefined
  readonly exclude_paths?: readonly string[] | undefined
  readonly include_lfs_blobs: boolean
}

interface Asked {
  readonly ctx: Ctx
  readonly project: Project
  readonly repo: Repo
  readonly query: ArchiveQuery
  readonly request: RequestFacts
  readonly suffix: string | undefined
}

/** An archive as a stream (docs/contract/B-resolved §1.3): its name, also that of the folder inside, carries ref and commit. */
export async function answerArchive(asked: Asked): Promise<Bytes> {
  const { ctx, project, repo, query, request } = asked
  const format = existing(archiveFormat(asked.suffix))
  if (isHotlinked(request)) throw notAcceptable()
  const revision = refOrDefault(project, query.sha)
  const { commitId } = await orNotFound('File', resolveRevision(repo, revision))
  const path = (query.path ?? '').replace(/^\/+|\/+$/g, '')
  const named = query.sha?.trim() || project.default_branch || 'HEAD'
  const name = archiveName(project.path, named, commitId, path)
  const type = format === 'zip' ? 'application/zip' : 'application/octet-stream'
  const headers = {
    'Content-Disposition': `attachment; filename="${name}.${format}"`,
    'Content-Transfer-Encoding': 'binary',
  }
  const lfs = query.include_lfs_blobs ? await lfsFiles(ctx, project) : undefined
  const input = { commitId, format, name, path, excludePaths: query.exclude_paths, lfs }
  const known = await ctx.git.archives.find(repo, input)
  if (known) {
    const { size, digest } = known
    const open = async (range?: ByteRange) => known.read(range)
    const file = { size, etag: `"${digest}"`, type, headers, open }
    const answer = await answerDownload(request, file)
    if (!(answer.body instanceof FileBody)) await known.close()
    return answer
  }
  const perMinute = ctx.config.limitArchives
  // Making one is what takes time.
  request.countAgainst(
    { name: 'archive', perMinute, scope: 'caller_and_subject', thing: 'This archive' },
    project.id,
  )
  if (request.method === 'HEAD') return { body: Readable.from([]), type, headers }
  const made = await orNotFound('File', openArchive(repo, input, request.signal))
  return { body: await ctx.git.archives.keep(repo, input, made), type, headers }
}

/** `<project>-<ref>-<commit>[-<path>]`, slashes as dashes; what would break a header or a folder's name as well. */
function archiveName(project: string, ref: string, commitId: string, path: string): string {
  const parts = [project, ref, commitId, ...(path === '' ? [] : [path])]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the header
  return parts.join('-').replace(/[/\\"\x00-\x1f\x7f]|[^\x20-\x7e]/g, '-')
}

/**
 * Whether a page of another site asks for the archive by itself, as an image or script for instance: 406. Programs send
 * no such header, and people who follow a link navigate.
 */
function isHotlinked(request: RequestFacts): boolean {
  if (request.headers['sec-fetch-site'] !== 'cross-site') return false
  return request.headers['sec-fetch-mode'] !== 'navigate'
}
