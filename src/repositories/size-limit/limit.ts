import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { inspectRepository } from '../../git/maintenance/maintenance.ts'
import type { Repo } from '../../git/repo.ts'
import type { WikiOrSnippetName } from '../../git/repo-name.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { claimBytes, withClaims } from './claims.ts'
import { findMeasuredProject, findSideLimits } from './queries.ts'

const MEBIBYTE = 1024 * 1024

/** How much a repository with its large files may hold, and how much it does, in bytes. */
export interface Room {
  readonly limit: number
  readonly used: number
}

/**
 * The limit of a project, else that of the nearest group, else that of the instance; undefined where that is 0 or there
 * is none. `used` is what was measured last, seconds after a push, or what is there now.
 */
export async function findRoom(
  ctx: Ctx,
  project: Limited,
  options: { readonly now?: boolean } = {},
): Promise<Room | undefined> {
  if (options.now) return await measureRoom(ctx, project, (room) => room)
  const found = await findLimit(ctx, project)
  return found && { limit: found.limit, used: found.measured.repository + found.measured.lfs }
}

/**
 * Keeps room for bytes that come now: they count for whoever is looked at meanwhile, until `leaveBytes`. Gives why there is
 * none, in the words of `refusalOf`; undefined when they may come.
 */
export async function claimRoom(
  ctx: Ctx,
  project: Limited,
  claim: { readonly holder: object; readonly bytes: number },
  refusalOf: (room: Room, bytes: number) => string | undefined,
): Promise<string | undefined> {
  return await measureRoom(ctx, project, (room) => {
    const reason = refusalOf(room, claim.bytes)
    if (reason === undefined) claimBytes(ctx.git.open(project.id), claim.holder, claim.bytes)
    return reason
  })
}

type Limited = Pick<Project, 'id' | 'settings'>

async function measureRoom<T>(
  ctx: Ctx,
  project: Limited,
  decide: (room: Room) => T,
): Promise<T | undefined> {
  const found = await findLimit(ctx, project)
  if (!found) return undefined
  const repo = ctx.git.open(project.id)
  // Large files too are counted while claims are watched: one that came in between would be in neither.
  const measure = async () => {
    const size = await sizeOf(repo)
    return size + ((await findMeasuredProject(ctx.db, project.id))?.lfs ?? 0)
  }
  return await withClaims(repo, measure, (used) => decide({ limit: found.limit, used }))
}

/** In bytes, with what was measured last. */
async function findLimit(ctx: Ctx, project: Limited) {
  const own = projectSetting(project, 'repository_size_limit')
  if (own === 0) return undefined
  const measured = await findMeasuredProject(ctx.db, project.id)
  const limit =
    (own ?? measured?.groupLimit ?? ctx.settings.get('repository_size_limit')) * MEBIBYTE
  return measured && limit > 0 ? { limit, measured } : undefined
}

/**
 * The same of a wiki or snippet, which is held to the limit by itself: that of its project, of the nearest group, or of the
 * instance.
 */
export async function findSideRoom(ctx: Ctx, name: WikiOrSnippetName): Promise<Room | undefined> {
  const { own, group } = await findSideLimits(ctx.db, name)
  const limit = (own ?? group ?? ctx.settings.get('repository_size_limit')) * MEBIBYTE
  const repo = ctx.git.open(name)
  if (limit === 0) return undefined
  return await withClaims(
    repo,
    () => sizeOf(repo),
    (used) => ({ limit, used }),
  )
}

/** One that is not made yet holds nothing. */
async function sizeOf(repo: Repo): Promise<number> {
  try {
    return (await inspectRepository(repo)).size
  } catch (error) {
    if (error instanceof GitError && error.code === 'not_found') return 0
    throw error
  }
}

const ask = 'Please contact your administrator for more information.'

/** Why a push brings no more; undefined when there is room for so many bytes. */
export function refusalOfPush(room: Room, bytes: number): string | undefined {
  if (room.used > room.limit) return `Your push has been rejected, ${overFull(room)}. ${ask}`
  if (room.used + bytes <= room.limit) return undefined
  return `Your push to this repository would cause it to exceed the size limit of ${sizeText(room.limit)} so it has been rejected. ${ask}`
}

/** Why a repository that the server would fetch is not taken in. */
export function refusalOfFetch(room: Room): string {
  return `The repository would exceed its size limit of ${sizeText(room.limit)}. ${ask}`
}

/** The same of a commit or merge that the server makes. */
export function refusalOfCommit(room: Room, bytes: number): string | undefined {
  if (room.used > room.limit) return `Your changes could not be committed, ${overFull(room)}`
  if (room.used + bytes <= room.limit) return undefined
  return `Your changes could not be committed, because they would cause this repository to exceed its size limit of ${sizeText(room.limit)}`
}

function overFull({ limit, used }: Room): string {
  return `because this repository has exceeded its size limit of ${sizeText(limit)} by ${sizeText(used - limit)}`
}

const UNITS = ['Bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `1.5 MiB`: two decimals at most. */
export function sizeText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  return `${Math.round((bytes / 1024 ** step) * 100) / 100} ${UNITS[step]}`
}
