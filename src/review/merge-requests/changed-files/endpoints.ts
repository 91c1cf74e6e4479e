import { z } from 'zod'
import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { existing, Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { type ChangedFile, readRangeDiff } from '../../../git/diff/changed-files.ts'
import { readDiff } from '../../../git/diff/diff.ts'
import { readLog } from '../../../git/history/log.ts'
import { isTreePath } from '../../../git/names.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { flag, id, list, text } from '../../../http/params.ts'
import type { ShownAs } from '../../../repositories/repository/attributes.ts'
import { diffEntity, presentDiff, shownIn } from '../../../repositories/repository/diff-entity.ts'
import { readOwnedFiles } from '../../approval-rules/code-owner-rules.ts'
import { onMergeRequest } from '../access.ts'
import { path } from '../path.ts'
import { findVersion } from '../queries.ts'
import type { VersionRow } from '../row.ts'
import { listViewed, type ViewedRow } from './queries.ts'
import { findRange, shownFilesOf, versionQuery } from './range.ts'

const changedFileEntity = z.strictObject({
  old_path: z.string(),
  new_path: z.string(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  generated_file: z.boolean(),
  /** Whether the repository's attributes say that its lines are not worth a look (`-diff`). */
  diff_suppressed: z.boolean(),
  /** Null of a binary file. */
  additions: z.int().nullable(),
  deletions: z.int().nullable(),
  /** As the file of code owners names them. */
  code_owners: z.array(z.string()),
  /** Whether the caller has looked at it as it is, or it has changed since. */
  viewed: z.enum(['no', 'yes', 'changed']),
  viewed_version_id: z.int().nullable(),
})

type Owners = ReadonlyMap<string, readonly string[]>

function present(
  file: ChangedFile,
  owners: Owners,
  mark: ViewedRow | undefined,
  shown: ShownAs,
): z.input<typeof changedFileEntity> {
  const { oldPath, newPath, status, additions, deletions } = file
  return {
    old_path: oldPath,
    new_path: newPath,
    new_file: status === 'added',
    renamed_file: status === 'renamed',
    deleted_file: status === 'deleted',
    generated_file: shown.generated,
    diff_suppressed: shown.suppressed,
    additions,
    deletions,
    code_owners: [...(owners.get(newPath) ?? [])],
    viewed: !mark ? 'no' : mark.blob_id === file.newId ? 'yes' : 'changed',
    viewed_version_id: mark?.version_id ?? null,
  }
}

/** Who owns the files; nobody where their list cannot be compared: it is a hint here, and a rule elsewhere. */
async function ownersOf(
  ctx: Ctx,
  project: Project,
  start: string,
  paths: readonly string[],
): Promise<Owners> {
  try {
    const owners = new Map<string, readonly string[]>()
    for (const { entry, paths: own } of await readOwnedFiles(ctx, project.id, start, paths)) {
      for (const one of own)
        owners.set(one, [...new Set([...(owners.get(one) ?? []), ...entry.owners])])
    }
    return owners
  } catch (error) {
    if (error instanceof Problem) return new Map()
    throw error
  }
}

export const listChangedFilesOfRequest = endpoint({
  method: 'GET',
  path: `${path}/changed_files`,
  summary: 'List the files that a merge request changes, without what changed in them',
  access: onMergeRequest(),
  query: versionQuery,
  response: z.array(changedFileEntity),
  async handler({ ctx, project, mergeRequest, query, request: { signal } }) {
    const range = await findRange(ctx, mergeRequest, query, signal)
    if (!range) return []
    const userId = userOf(ctx.actor)?.id
    const [{ files, shown }, viewed] = await Promise.all([
      shownFilesOf(ctx, project.id, range, signal),
      userId === undefined ? [] : listViewed(ctx.db, mergeRequest.id, userId),
    ])
    const paths = files.map((file) => file.newPath)
    const owners = await ownersOf(ctx, project, range.version.start_sha, paths)
    const marks = new Map(viewed.map((row) => [row.path, row]))
    return files.map((file) => present(file, owners, marks.get(file.newPath), shown(file.newPath)))
  },
})

const MOST_PATHS = 100
const limits = { expanded: true, files: 3000, lines: 100_000, fileBytes: 500 * 1024 }

export const getDiffOfChangedFiles = endpoint({
  method: 'GET',
  path: `${path}/changed_files/diff`,
  summary: 'Get what a merge request changes in some of its files',
  access: onMergeRequest(),
  query: {
    ...versionQuery,
    /** Both names of a renamed file. */
    paths: list(text({ max: 4096 }), { max: MOST_PATHS }),
    ignore_whitespace: flag().optional(),
  },
  response: z.array(diffEntity),
  async handler({ ctx, project, mergeRequest, query, request: { signal } }) {
    const range = await findRange(ctx, mergeRequest, query, signal)
    const { ignore_whitespace: ignoreSpace = false } = query
    // No file has any other.
    const paths = query.paths.filter(isTreePath)
    if (!range || paths.length === 0) return []
    const { from, to } = range
    const repo = ctx.git.open(project.id)
    const { files } = await readDiff(repo, { from, to, limits, paths, ignoreSpace }, signal)
    const shown = await shownIn(repo, to, files, signal)
    return files.map((file) => presentDiff(file, {}, shown))
  },
})

/** Comparing each commit with each takes its time. */
const MOST_COMMITS = 100

export const getRangeDiff = endpoint({
  method: 'GET',
  path: `${path}/range_diff`,
  summary: 'Compare the commits of two versions of a merge request',
  access: onMergeRequest(),
  query: { from_version_id: id(), to_version_id: id() },
  response: z.strictObject({
    /** As git prints it; null where that would take too long, or be too long to read. */
    range_diff: z.string().nullable(),
  }),
  async handler({ ctx, project, mergeRequest, query, request: { signal } }) {
    const find = async (versionId: number) =>
      existing(await findVersion(ctx.db, mergeRequest.id, versionId), 'Version')
    const before = await find(query.from_version_id)
    const after = await find(query.to_version_id)
    if ((await isLong(ctx, project, before)) || (await isLong(ctx, project, after)))
      return { range_diff: null }
    const of = ({ base_sha: base, head_sha: head }: VersionRow) => ({ base, head })
    const ranges = { before: of(before), after: of(after) }
    const found = await readRangeDiff(ctx.git.open(project.id), ranges, signal)
    return { range_diff: found ?? null }
  },
})

async function isLong(ctx: Ctx, project: Project, version: VersionRow): Promise<boolean> {
  const revision = `${version.base_sha}..${version.head_sha}`
  const { more } = await readLog(ctx.git.open(project.id), { revision, limit: MOST_COMMITS })
  return more
}
