import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { prepareEffects } from '../../base/effects.ts'
import {
  badRequest,
  conflict,
  invalid,
  invalidText,
  notFound,
  unprocessable,
} from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isTagName } from '../../git/names.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { findRef } from '../../git/refs/refs.ts'
import { findUsableMilestone, listMilestonesByTitle } from '../../planning/milestones/queries.ts'
import { placeOfProject } from '../../planning/place.ts'
import type { DeletedTag, ReadPush } from '../../repositories/effects.ts'
import { isDeletion, tagOf } from '../../repositories/refs/moves.ts'
import { createTag } from '../../repositories/tags/create-tag.ts'
import type { LinkType } from '../../store/schema/releases.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import {
  deleteRelease,
  findRelease,
  insertLink,
  insertRelease,
  type ReleaseRow,
  saveMilestones,
  updateLink,
  updateRelease,
} from './queries.ts'

export interface LinkInput {
  readonly name?: string | undefined
  readonly url?: string | undefined
  readonly filepath?: string | undefined
  readonly direct_asset_path?: string | undefined
  readonly link_type?: LinkType | undefined
}

export interface ReleaseInput {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly released_at?: string | undefined
  readonly milestones?: readonly string[] | undefined
  readonly milestone_ids?: readonly number[] | undefined
}

export interface NewRelease extends ReleaseInput {
  readonly tag_name: string
  readonly tag_message?: string | undefined
  readonly ref?: string | undefined
  readonly links: readonly LinkInput[]
}

const exists = () => conflict('Release already exists')

/** Makes a release of a tag; the tag too when `ref` says from where (docs/contract/D §1.6). */
export async function createRelease(
  ctx: Ctx,
  project: Project,
  input: NewRelease,
): Promise<ReleaseRow> {
  const { tag_name: tag } = input
  if (tag.trim() === '') throw invalid({ tag: ["can't be blank"] })
  if (await findRelease(ctx.db, project.id, tag)) throw exists()
  const milestoneIds = await milestonesFor(ctx, project, input)
  assertLinks(input.links)
  const sha = await ensureTag(ctx, project, input)
  const follow = await prepareEffects(ctx, ctx.effects.releaseChanged, { project, sha })
  const now = ctx.now()
  return inTransaction(ctx, async (ctx) => {
    const row = await uniquely({ 'releases.project_id, releases.tag': exists }, () =>
      insertRelease(ctx.db, {
        project_id: project.id,
        tag,
        sha,
        name: input.name?.trim() || tag,
        description: input.description ?? null,
        author_id: userOf(ctx.actor)?.id ?? null,
        released_at: input.released_at ?? now,
        created_at: now,
        updated_at: now,
      }),
    )
    await saveMilestones(ctx.db, row.id, milestoneIds ?? [])
    for (const link of input.links) await addLink(ctx, row.id, link)
    await follow(ctx, { row, action: 'create' })
    return row
  })
}

/** The commit of the release's tag, which is made first when it is not there. */
async function ensureTag(ctx: Ctx, project: Project, input: NewRelease): Promise<string> {
  const repo = ctx.git.open(project.id)
  if (!isTagName(input.tag_name)) throw invalidText('Tag name invalid')
  if (!(await findRef(repo, `refs/tags/${input.tag_name}`))) {
    if (!input.ref) throw unprocessable('Ref is not specified')
    await createTag(ctx, project, {
      name: input.tag_name,
      ref: input.ref,
      message: input.tag_message,
    })
  }
  return (await resolveRevision(repo, input.tag_name, { kind: 'tag' })).commitId
}

/** Ids of the milestones that are named by title or id; undefined when none are named at all. */
async function milestonesFor(
  ctx: Ctx,
  project: Project,
  input: ReleaseInput,
): Promise<number[] | undefined> {
  const place = placeOfProject(project)
  if (input.milestones !== undefined) {
    const titles = [...new Set(input.milestones)]
    const found = await listMilestonesByTitle(ctx.db, place, titles)
    const unknown = titles.filter((title) => !found.some((one) => one.title === title))
    if (unknown.length > 0) throw badRequest(`Milestone(s) not found: ${unknown.join(', ')}`)
    return found.map((one) => one.id)
  }
  if (input.milestone_ids === undefined) return undefined
  for (const id of input.milestone_ids) {
    if (!(await findUsableMilestone(ctx.db, place, id)))
      throw badRequest(`Milestone id(s) not found: ${id}`)
  }
  return [...new Set(input.milestone_ids)]
}

/** Changes what is given; the tag stays. */
export async function changeRelease(
  ctx: Ctx,
  project: Project,
  row: ReleaseRow,
  input: ReleaseInput,
): Promise<ReleaseRow> {
  const milestoneIds = await milestonesFor(ctx, project, input)
  const { sha } = row
  const follow = await prepareEffects(ctx, ctx.effects.releaseChanged, { project, sha })
  return inTransaction(ctx, async (ctx) => {
    if (milestoneIds) await saveMilestones(ctx.db, row.id, milestoneIds)
    const changed = await updateRelease(ctx.db, row.id, {
      name: input.name === undefined ? undefined : input.name.trim() || row.tag,
      description: input.description,
      released_at: input.released_at,
      updated_at: ctx.now(),
    })
    await follow(ctx, { row: changed, action: 'update' })
    return changed
  })
}

/** Deletes a release; its tag stays. */
export async function removeRelease(ctx: Ctx, project: Project, row: ReleaseRow): Promise<void> {
  const removed = await inTransaction(ctx, await prepareRemoval(ctx, project, row))
  if (!removed) throw notFound()
}

/**
 * Looks at a release that is to go; what it gives deletes it, with what follows, in a transaction. That is false when
 * somebody did so a moment ago.
 */
async function prepareRemoval(ctx: Ctx, project: Project, row: ReleaseRow) {
  const { sha } = row
  const follow = await prepareEffects(ctx, ctx.effects.releaseChanged, { project, sha })
  return async (ctx: Ctx): Promise<boolean> => {
    if ((await findRelease(ctx.db, project.id, row.tag))?.id !== row.id) return false
    await follow(ctx, { row, action: 'delete' })
    await deleteRelease(ctx.db, row.id)
    return true
  }
}

/** A tag that is deleted through the API takes its release along. */
export async function removeReleaseOfTag(ctx: Ctx, { project, tag }: DeletedTag) {
  const row = await findRelease(ctx.db, project.id, tag)
  return row ? await prepareRemoval(ctx, project, row) : async () => {}
}

/** The same of releases that stayed behind since the server ended between tag and release. */
export async function removeReleasesLeft(ctx: Ctx, { project, push }: ReadPush) {
  const removals: ((ctx: Ctx) => Promise<boolean>)[] = []
  for (const move of push.via === 'api' ? push.moves.filter(isDeletion) : []) {
    const tag = tagOf(move.name)
    const row = tag === undefined ? undefined : await findRelease(ctx.db, project.id, tag)
    // A later one has a tag that was made again.
    if (row && row.created_at <= push.at) removals.push(await prepareRemoval(ctx, project, row))
  }
  return async (ctx: Ctx): Promise<void> => {
    for (const remove of removals) await remove(ctx)
  }
}

const uniques = {
  'release_links.release_id, release_links.name': () => taken('name'),
  'release_links.release_id, release_links.url': () => taken('url'),
  'release_links.release_id, release_links.filepath': () => taken('filepath'),
}

function assertLink(link: LinkInput): void {
  if (link.name !== undefined && link.name.trim() === '')
    throw invalid({ name: ["can't be blank"] })
  if (link.url !== undefined && !isAssetUrl(link.url)) {
    throw invalid({ url: ['is blocked: Only allowed schemes are http, https, ftp'] })
  }
  const path = filepathOf(link)
  if (path !== undefined && !/^\/(?:[^/\s][^\s]*)$/.test(path)) {
    throw invalid({ filepath: ['is in an invalid format'] })
  }
}

/** Links of one release differ; checked before the tag is made, which stays. */
function assertLinks(links: readonly LinkInput[]): void {
  const values = { name: new Set(), url: new Set(), filepath: new Set() }
  for (const link of links) {
    assertLink(link)
    const given = { name: link.name, url: link.url, filepath: filepathOf(link) }
    for (const field of ['name', 'url', 'filepath'] as const) {
      if (given[field] === undefined) continue
      if (values[field].has(given[field])) throw taken(field)
      values[field].add(given[field])
    }
  }
}

function isAssetUrl(url: string): boolean {
  return /^(https?|ftp):\/\//i.test(url) && URL.canParse(url) && url.length <= 2048
}

function filepathOf(link: LinkInput): string | undefined {
  return link.direct_asset_path ?? link.filepath
}

/** Adds a link to a release. */
export function addLink(ctx: Ctx, releaseId: number, link: LinkInput) {
  assertLink(link)
  const { name, url } = link
  if (name === undefined || url === undefined) throw invalid({ name: ["can't be blank"] })
  const values = {
    release_id: releaseId,
    name,
    url,
    filepath: filepathOf(link) ?? null,
    link_type: link.link_type ?? 'other',
    created_at: ctx.now(),
  } as const
  return uniquely(uniques, () => insertLink(ctx.db, values))
}

/** Changes what is given of a link. */
export function changeLink(ctx: Ctx, id: number, link: LinkInput) {
  assertLink(link)
  const { name, url, link_type } = link
  const changes = { name, url, link_type, filepath: filepathOf(link) }
  return uniquely(uniques, () => updateLink(ctx.db, id, changes))
}
