import { z } from 'zod'
import type { Project } from '../../../access/subjects.ts'
import { type OffsetPage, pageOf } from '../../../base/page.ts'
import { existing } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { type Diff, type DiffInput, readDiff, readPrintedDiff } from '../../../git/diff/diff.ts'
import { readLog } from '../../../git/history/log.ts'
import type { Repo } from '../../../git/repo.ts'
import { bytes, endpoint, JsonText } from '../../../http/endpoint.ts'
import { flag, id } from '../../../http/params.ts'
import { commitEntity, presentCommit } from '../../../repositories/commits/entity.ts'
import {
  diffEntity,
  presentDiff,
  printDiffs,
  shownIn,
} from '../../../repositories/repository/diff-entity.ts'
import { onMergeRequest } from '../access.ts'
import { changesEntity, versionEntity, versionFields } from '../entity.ts'
import { recheckIfDue } from '../jobs.ts'
import { path } from '../path.ts'
import { presentMergeRequest } from '../present-single.ts'
import { findLatestVersion, findVersion, listVersions } from '../queries.ts'
import type { VersionRow } from '../row.ts'
import { answerRawDiff } from './host-diff.ts'
import { prepare, preparedVersion } from './prepared.ts'

// More files than this are no reading matter; the diff ends there.
const unlimited = { files: 3000, lines: 100_000, bytes: 15 * 1024 * 1000, fileBytes: 500 * 1024 }

function presentVersion(row: VersionRow): z.input<typeof versionEntity> {
  return {
    id: row.id,
    head_commit_sha: row.head_sha,
    base_commit_sha: row.base_sha,
    start_commit_sha: row.start_sha,
    created_at: row.created_at,
    merge_request_id: row.merge_request_id,
    state: 'collected',
    real_size: String(row.real_size),
    patch_id_sha: row.patch_id,
  }
}

/** What is asked of git for the files of a version. */
function inputOf({ base_sha: from, head_sha: to }: VersionRow, whole: boolean): DiffInput {
  return { from, to, limits: whole ? { ...unlimited, expanded: true } : { expanded: true } }
}

/** The files of a version; none while the first is being computed. */
async function diffOf(
  ctx: Ctx,
  project: Project,
  version: VersionRow | undefined,
  signal: AbortSignal,
): Promise<Diff> {
  if (!version) return { files: [], overflow: false }
  return readDiff(ctx.git.open(project.id), inputOf(version, false), signal)
}

/** The files of a version as they are shown, by what its own attributes say. */
async function presentFiles(
  repo: Repo,
  version: VersionRow | undefined,
  files: Diff['files'],
  options: { readonly unidiff?: boolean | undefined },
): Promise<z.input<typeof diffEntity>[]> {
  if (!version) return []
  const shown = await shownIn(repo, version.head_sha, files)
  return files.map((file) => presentDiff(file, options, shown))
}

/** The commits of a version, newest first. */
async function commitsOf(
  ctx: Ctx,
  project: Project,
  version: VersionRow | undefined,
  page: OffsetPage,
) {
  if (!version) return { commits: [], more: false }
  return readLog(ctx.git.open(project.id), {
    revision: `${version.start_sha}..${version.head_sha}`,
    skip: page.offset,
    limit: page.perPage,
  })
}

export const listMergeRequestCommits = endpoint({
  method: 'GET',
  path: `${path}/commits`,
  summary: 'List the commits of a merge request, newest first',
  access: onMergeRequest(),
  paginate: 'offset',
  response: z.array(commitEntity),
  async handler({ ctx, project, mergeRequest, page }) {
    const version = await preparedVersion(ctx, mergeRequest)
    const { commits, more } = await commitsOf(ctx, project, version, page)
    return { items: commits.map((commit) => presentCommit(ctx, project, commit)), more }
  },
})

export const getMergeRequestChanges = endpoint({
  method: 'GET',
  path: `${path}/changes`,
  summary: 'Get a merge request with its changes',
  access: onMergeRequest(),
  query: { access_raw_diffs: flag().optional(), unidiff: flag().optional() },
  response: changesEntity,
  async handler({ ctx, project, mergeRequest, query, request }) {
    const found = await prepare(ctx, mergeRequest)
    const row = await recheckIfDue(ctx, found)
    const version = await findLatestVersion(ctx.db, row.id)
    const shown = await presentMergeRequest(ctx, project, row)
    if (!version) return { ...shown, changes: [], overflow: false }
    const repo = ctx.git.open(project.id)
    const input = inputOf(version, query.access_raw_diffs ?? false)
    if (query.unidiff) {
      const { files, overflow } = await readDiff(repo, input, request.signal)
      return { ...shown, changes: await presentFiles(repo, version, files, query), overflow }
    }
    const diff = await readPrintedDiff(repo, input, request.signal)
    const head = JSON.stringify({ ...shown, overflow: diff.overflow }).slice(0, -1)
    const list = printDiffs(diff, await shownIn(repo, version.head_sha, diff.files))
    return new JsonText(
      Buffer.concat([Buffer.from(`${head},"changes":`), ...list, Buffer.from('}')]),
    )
  },
})

export const listMergeRequestDiffs = endpoint({
  method: 'GET',
  path: `${path}/diffs`,
  summary: 'List the files that a merge request changes',
  access: onMergeRequest(),
  query: { unidiff: flag().optional() },
  paginate: 'offset',
  response: z.array(diffEntity),
  async handler({ ctx, project, mergeRequest, query, page, request }) {
    const version = await preparedVersion(ctx, mergeRequest)
    const { files } = await diffOf(ctx, project, version, request.signal)
    const { items, total } = pageOf(files, page)
    return { items: await presentFiles(ctx.git.open(project.id), version, items, query), total }
  },
})

export const getMergeRequestRawDiffs = endpoint({
  method: 'GET',
  path: `${path}/raw_diffs`,
  summary: 'Get the changes of a merge request as git writes them',
  access: onMergeRequest(),
  response: bytes('text/plain'),
  async handler({ ctx, project, mergeRequest, request }) {
    const version = await preparedVersion(ctx, mergeRequest)
    return answerRawDiff(ctx, project, version, { format: 'diff', signal: request.signal })
  },
})

export const listMergeRequestVersions = endpoint({
  method: 'GET',
  path: `${path}/versions`,
  summary: 'List the diffs that a merge request has had, newest first',
  access: onMergeRequest(),
  paginate: 'offset',
  response: z.array(versionEntity),
  async handler({ ctx, mergeRequest, page }) {
    const row = await prepare(ctx, mergeRequest)
    const { items, total } = pageOf(await listVersions(ctx.db, row.id), page)
    return { items: items.map((version) => presentVersion(version)), total }
  },
})

export const getMergeRequestVersion = endpoint({
  method: 'GET',
  path: `${path}/versions/:version_id`,
  summary: 'Get one diff of a merge request with its commits and files',
  access: onMergeRequest(),
  params: { version_id: id() },
  query: { unidiff: flag().optional() },
  response: z.strictObject({
    ...versionFields,
    commits: z.array(commitEntity),
    diffs: z.array(diffEntity),
  }),
  async handler({ ctx, project, mergeRequest, params, query, request }) {
    const row = await prepare(ctx, mergeRequest)
    const version = existing(await findVersion(ctx.db, row.id, params.version_id))
    const all = { kind: 'offset', number: 1, perPage: 1000, offset: 0 } as const
    const [{ commits }, diff] = await Promise.all([
      commitsOf(ctx, project, version, all),
      diffOf(ctx, project, version, request.signal),
    ])
    return {
      ...presentVersion(version),
      commits: commits.map((commit) => presentCommit(ctx, project, commit)),
      diffs: await presentFiles(ctx.git.open(project.id), version, diff.files, query),
    }
  },
})
