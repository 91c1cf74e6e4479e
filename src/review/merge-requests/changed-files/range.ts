import { LRUCache } from 'lru-cache'
import { existing } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { type ChangedFile, listChangedFiles } from '../../../git/diff/changed-files.ts'
import type { ObjectId } from '../../../git/types.ts'
import { id } from '../../../http/params.ts'
import { type ShownAs, shownAs } from '../../../repositories/repository/attributes.ts'
import { preparedVersion } from '../diff/prepared.ts'
import { findVersion } from '../queries.ts'
import type { MergeRequestRow, VersionRow } from '../row.ts'

/** More files than this are no reading matter. */
export const MOST_FILES = 3000

/** Which versions are meant: the newest against its base, unless something else is asked for. */
export const versionQuery = {
  version_id: id().optional(),
  since_version_id: id().optional(),
}

/** A version, and the two commits that are compared for it. */
export interface VersionRange {
  readonly version: VersionRow
  readonly from: ObjectId
  readonly to: ObjectId
}

/** What is compared: a version with its base, or with what an older version brought; nothing while there is no version. */
export async function findRange(
  ctx: Ctx,
  row: MergeRequestRow,
  asked: {
    readonly version_id?: number | undefined
    readonly since_version_id?: number | undefined
  },
  signal: AbortSignal,
): Promise<VersionRange | undefined> {
  const find = async (versionId: number) =>
    existing(await findVersion(ctx.db, row.id, versionId), 'Version')
  const version =
    asked.version_id === undefined
      ? await preparedVersion(ctx, row, signal)
      : await find(asked.version_id)
  if (!version) return undefined
  const since =
    asked.since_version_id === undefined ? undefined : await find(asked.since_version_id)
  return { version, from: since?.head_sha ?? version.base_sha, to: version.head_sha }
}

/** The files of a range, and how each is shown. */
export interface ShownFiles {
  readonly files: readonly ChangedFile[]
  readonly shown: (path: string) => ShownAs
}

/** Of what was listed last: pages ask for the same list again for each of its files. */
const listed = new LRUCache<string, ShownFiles>({
  maxSize: 10_000,
  sizeCalculation: ({ files }) => files.length + 1,
})

/** What a range changes, at most as many files as anybody reads. */
export async function filesOf(
  ctx: Ctx,
  projectId: number,
  range: VersionRange,
  signal: AbortSignal,
): Promise<readonly ChangedFile[]> {
  return (await shownFilesOf(ctx, projectId, range, signal)).files
}

/** What a range changes, with how its files are shown. */
export async function shownFilesOf(
  ctx: Ctx,
  projectId: number,
  { from, to }: VersionRange,
  signal: AbortSignal,
): Promise<ShownFiles> {
  const key = `${projectId} ${from} ${to}`
  const known = listed.get(key)
  if (known) return known
  const repo = ctx.git.open(projectId)
  const files = (await listChangedFiles(repo, from, to, signal)).slice(0, MOST_FILES)
  const paths = files.map((file) => file.newPath)
  const found = { files, shown: await shownAs(repo, to, paths, signal) }
  listed.set(key, found)
  return found
}
