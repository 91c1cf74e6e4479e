import { call, may } from '../../../http/call/call.ts'
import type { DataOf } from '../../../http/endpoint.ts'
import { flag, oneOf, parameter } from '../../../http/params.ts'
import {
  getDiffOfChangedFiles,
  listChangedFilesOfRequest,
} from '../../../review/merge-requests/changed-files/endpoints.ts'
import { listMergeRequestVersions } from '../../../review/merge-requests/diff/endpoints.ts'
import { listDraftNotes } from '../../../review/merge-requests/drafts/endpoints.ts'
import { getProjectMergeRequest } from '../../../review/merge-requests/endpoints.ts'
import { watchedRequests } from '../../../review/merge-requests/live/queries.ts'
import { mergeRequestThreads } from '../../../review/merge-requests/threads.ts'
import { liveStateOf } from '../../../store/live/follow-rows.ts'
import { withQuery } from '../../address.ts'
import { keepView, type PageCtx, readView } from '../../page-ctx.ts'
import type { DiffLayout } from '../../parts/diff.tsx'
import type { ProjectData } from '../../project/frame.tsx'
import { requestAddress } from '../state.tsx'
import { listAllThreads, type ThreadData } from '../threads-data.ts'

/** The number of a version; an empty field of a form asks for nothing. */
const versionId = parameter<number | undefined>({ type: 'integer' }, (raw) =>
  /^\d{1,15}$/.test(String(raw)) ? Number(raw) : undefined,
)

/** How changes are shown: what every page and part of them takes. */
export const changesQuery = {
  view: oneOf(['unified', 'split']).optional(),
  w: flag().default(false),
  version: versionId.optional(),
  since: versionId.optional(),
}

export interface ChangesQuery {
  readonly view?: DiffLayout | undefined
  /** Without changes of white space. */
  readonly w: boolean
  readonly version?: number | undefined
  readonly since?: number | undefined
}

export type ChangedFile = DataOf<typeof listChangedFilesOfRequest>[number]
export type FileDiff = DataOf<typeof getDiffOfChangedFiles>[number]
export type Version = DataOf<typeof listMergeRequestVersions>['items'][number]
export type Draft = DataOf<typeof listDraftNotes>['items'][number]

/** The changes of a merge request without their lines, and what people say about them. */
export interface ChangeSet {
  readonly project: ProjectData
  readonly request: DataOf<typeof getProjectMergeRequest>
  /** How the page has seen it, for following it. */
  readonly seen: string
  readonly files: readonly ChangedFile[]
  /** The newest first. */
  readonly versions: readonly Version[]
  /** The one that is shown; none while the first is being made. */
  readonly version: Version | undefined
  readonly threads: readonly ThreadData[]
  readonly drafts: readonly Draft[]
  readonly query: ChangesQuery
  readonly layout: DiffLayout
  /** The address of the merge request. */
  readonly address: string
  readonly mayComment: boolean
  readonly signedIn: boolean
}

/** Calls what all that shows changes reads. */
export async function readChangeSet(
  ctx: PageCtx,
  project: ProjectData,
  iid: string,
  query: ChangesQuery,
): Promise<ChangeSet> {
  const path = { id: project.id, merge_request_iid: iid }
  const range = { version_id: query.version, since_version_id: query.since }
  const signedIn = ctx.actor.kind === 'user'
  const [{ request, seen }, files, versions, threads, drafts, mayComment] = await Promise.all([
    readFollowed(ctx, path),
    call(listChangedFilesOfRequest, ctx, { path, query: range }),
    call(listMergeRequestVersions, ctx, { path, query: { per_page: 100 } }),
    listAllThreads(ctx, path),
    signedIn ? call(listDraftNotes, ctx, { path, query: { per_page: 100 } }) : undefined,
    may(mergeRequestThreads.beginThread, ctx, { path }),
  ])
  if (query.view) keepView(ctx, 'diff', query.view)
  const liked = query.view ?? readView(ctx).get('diff')
  return {
    ...{ project, request, seen, files, threads, query, mayComment, signedIn },
    versions: versions.items,
    version: versions.items.find(({ id }) => id === query.version) ?? versions.items[0],
    drafts: drafts?.items ?? [],
    layout: liked === 'split' ? 'split' : 'unified',
    address: requestAddress(project, request.iid),
  }
}

/** The merge request, and how it is before all else is read: what changes meanwhile is shown later. */
async function readFollowed(ctx: PageCtx, path: { id: number; merge_request_iid: string }) {
  const request = await call(getProjectMergeRequest, ctx, { path })
  return { request, seen: await liveStateOf(ctx, watchedRequests, request.id) }
}

/** What changed in some of the files, by their new names. */
export async function readDiffs(
  ctx: PageCtx,
  { project, request, query }: ChangeSet,
  files: readonly ChangedFile[],
): Promise<ReadonlyMap<string, FileDiff>> {
  if (files.length === 0) return new Map()
  const path = { id: project.id, merge_request_iid: request.iid }
  const read = (some: readonly ChangedFile[]) =>
    call(getDiffOfChangedFiles, ctx, {
      path,
      query: {
        version_id: query.version,
        since_version_id: query.since,
        ignore_whitespace: query.w ? true : undefined,
        paths: [...new Set(some.flatMap((file) => [file.old_path, file.new_path]))],
      },
    })
  // Without white space git leaves out what it does not show: file by file it is known which that is.
  const diffs = query.w ? await Promise.all(files.map((file) => read([file]))) : [await read(files)]
  return new Map(diffs.flat().map((diff) => [diff.new_path, diff]))
}

function queryOf({ query: { w, version, since } }: Pick<ChangeSet, 'query'>) {
  return { w: w ? 'true' : undefined, version, since }
}

/** The address of the changes, shown like now unless something else is asked. */
export function changesAddress(
  set: Pick<ChangeSet, 'address' | 'query'>,
  more: Readonly<Record<string, string | number | undefined>> = {},
): string {
  return withQuery(`${set.address}/diffs`, { ...queryOf(set), ...more })
}

/** The address of one file alone, as a part of the page: whole, or without its head. */
export function fileAddress(
  set: Pick<ChangeSet, 'address' | 'query'>,
  { new_path: file }: Pick<ChangedFile, 'new_path'>,
  part?: 'body',
): string {
  return withQuery(`${set.address}/diffs/file`, { file, part, ...queryOf(set) })
}

/** The address of a stretch of the files, as a part of the page. */
export function filesAddress(set: Pick<ChangeSet, 'address' | 'query'>, start: number): string {
  return withQuery(`${set.address}/diffs/files`, { start, ...queryOf(set) })
}

/** Comments are on the lines of one version: not between two, nor where lines are left out. */
export function mayCommentOnLines({ mayComment, query, version }: ChangeSet): boolean {
  return mayComment && version !== undefined && query.since === undefined && !query.w
}
