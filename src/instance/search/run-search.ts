import { z } from 'zod'
import type { Group, Project } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { noteEntity } from '../../discussions/notes/entity.ts'
import { searchNotes } from '../../discussions/notes/search-notes.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { issueEntity } from '../../planning/issues/entity.ts'
import { listVisibleIssues } from '../../planning/issues/list/list-issues.ts'
import { milestoneEntity } from '../../planning/milestones/entity.ts'
import { presentMilestonesById } from '../../planning/milestones/verbs.ts'
import { projectBasicEntity, projectEntity } from '../../projects/projects/entity.ts'
import { listProjects } from '../../projects/projects/list/list-projects.ts'
import { snippetEntity } from '../../publishing/snippets/entity.ts'
import { listSnippets } from '../../publishing/snippets/shared.ts'
import { commitEntity } from '../../repositories/commits/entity.ts'
import { mayReadRequests } from '../../review/merge-requests/access.ts'
import { listedMergeRequestEntity } from '../../review/merge-requests/entity.ts'
import { listVisibleMergeRequests } from '../../review/merge-requests/list/list-merge-requests.ts'
import type { SearchPlace } from '../../store/search.ts'
import { blobHitEntity, searchBlobs, searchCommits } from './code.ts'
import { listMilestoneIds, listUserIds } from './queries.ts'
import type { SearchScope } from './scopes.ts'
import { searchWikis } from './wikis.ts'

/** Whatever a search finds: the entity of what was looked for. */
export const foundEntity = z.union([
  projectEntity,
  projectBasicEntity,
  issueEntity,
  listedMergeRequestEntity,
  milestoneEntity,
  userBasicEntity,
  noteEntity,
  commitEntity,
  snippetEntity,
  blobHitEntity,
])

type Found = Paged<z.input<typeof foundEntity>>

export interface SearchInput {
  readonly scope: SearchScope
  readonly search: string
  readonly state?: 'opened' | 'closed' | 'merged' | 'all' | undefined
  readonly confidential?: boolean | undefined
  readonly sort?: 'asc' | 'desc' | undefined
  readonly fields?: readonly ('title' | 'description')[] | undefined
  readonly ref?: string | undefined
  readonly num_context_lines?: number | undefined
}

/** Where somebody searches, with the subject that access let them see. */
export type Searched =
  | { readonly kind: 'all' }
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'project'; readonly project: Project }

function placeOf(at: Searched): SearchPlace {
  if (at.kind === 'all') return at
  return at.kind === 'group'
    ? { kind: 'group', groupId: at.group.id }
    : { kind: 'project', projectId: at.project.id }
}

const CONTEXT_LINES = 1

/** Looks for what the caller may see (docs/contract/D §1.27). */
export async function runSearch(
  ctx: Ctx,
  at: Searched,
  input: SearchInput,
  page: OffsetPage,
  signal: AbortSignal,
): Promise<Found> {
  const place = placeOf(at)
  const { scope, search } = input
  switch (scope) {
    case 'projects':
      return await findProjects(ctx, place, search, page)
    case 'issues':
      return await findIssues(ctx, at, place, input, page)
    case 'merge_requests':
      return await findMergeRequests(ctx, at, input, page)
    case 'milestones':
      return await findMilestones(ctx, place, input, page)
    case 'users':
      return await findUsers(ctx, place, search, page)
    case 'snippet_titles':
      return await listSnippets(ctx, { search }, page)
    case 'notes':
      return await searchNotes(ctx, place, search, page)
    default:
      return await findInCode(ctx, at, { ...input, scope }, page, signal)
  }
}

async function findInCode(
  ctx: Ctx,
  at: Searched,
  input: SearchInput & { readonly scope: 'commits' | 'blobs' | 'wiki_blobs' },
  page: OffsetPage,
  signal: AbortSignal,
): Promise<Found> {
  const { scope, search, ref } = input
  const contextLines = input.num_context_lines ?? CONTEXT_LINES
  const code = { place: placeOf(at), text: search, ref, contextLines }
  if (scope === 'commits') return await searchCommits(ctx, code, page, signal)
  if (scope === 'blobs') return await searchBlobs(ctx, code, page, signal)
  return await searchWikis(ctx, at.kind === 'group' ? at.group : undefined, code, page, signal)
}

async function findProjects(
  ctx: Ctx,
  place: SearchPlace,
  search: string,
  page: OffsetPage,
): Promise<Found> {
  const scope =
    place.kind === 'group'
      ? {
          kind: 'group' as const,
          groupId: place.groupId,
          subgroups: true,
          ancestors: false,
          shared: false,
        }
      : { kind: 'all' as const }
  return await listProjects(ctx, scope, { search, simple: true }, page)
}

async function findIssues(
  ctx: Ctx,
  at: Searched,
  place: SearchPlace,
  input: SearchInput,
  page: OffsetPage,
): Promise<Found> {
  const { search, confidential, sort, fields } = input
  const state = input.state === 'merged' ? undefined : input.state
  if (input.state === 'merged') return { items: [], total: 0 }
  const query = {
    search,
    state,
    confidential,
    sort,
    in: fields && [...fields],
    order_by: 'created_at' as const,
    non_archived: false,
  }
  const path = at.kind === 'project' ? at.project.full_path : undefined
  return await listVisibleIssues(ctx, place, query, page, path)
}

async function findMergeRequests(
  ctx: Ctx,
  at: Searched,
  input: SearchInput,
  page: OffsetPage,
): Promise<Found> {
  const { search, state, sort, fields } = input
  const query = { search, state, sort, in: fields && [...fields], order_by: 'created_at' as const }
  if (at.kind !== 'project') {
    const place = at.kind === 'group' ? { groupId: at.group.id, path: at.group.full_path } : {}
    return await listVisibleMergeRequests(ctx, { path: null, ...place }, query, page)
  }
  if (!mayReadRequests(ctx, at.project)) return { items: [], total: 0 }
  return await listVisibleMergeRequests(ctx, { projectId: at.project.id }, query, page)
}

async function findMilestones(
  ctx: Ctx,
  place: SearchPlace,
  input: SearchInput,
  page: OffsetPage,
): Promise<Found> {
  const viewer = viewerOf(ctx)
  const state = input.state === 'closed' ? 'closed' : undefined
  const asked = {
    search: input.search,
    state: input.state === 'opened' ? 'active' : state,
  } as const
  const { items, ...rest } = await listMilestoneIds(ctx.db, viewer, place, asked, page)
  const ids = items.map(({ id }) => id)
  const found = await presentMilestonesById(ctx, ids)
  return { ...rest, items: ids.flatMap((id) => found.get(id) ?? []) }
}

async function findUsers(
  ctx: Ctx,
  place: SearchPlace,
  search: string,
  page: OffsetPage,
): Promise<Found> {
  if (ctx.actor.kind === 'anonymous') throw forbidden()
  const viewer = viewerOf(ctx)
  const { items, ...rest } = await listUserIds(ctx.db, viewer, place, search, page)
  const ids = items.map(({ id }) => id)
  const found = await usersById(ctx, ids)
  return { ...rest, items: ids.flatMap((id) => found.get(id) ?? []) }
}
