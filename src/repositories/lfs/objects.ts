import { ANONYMOUS } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { type Viewer, viewerOf } from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { LfsPointer } from '../../git/objects/lfs-pointer.ts'
import { readFetchedPointers } from '../../git/transfer/new-pointers.ts'
import type { ObjectId } from '../../git/types.ts'
import {
  copyLfsObjects,
  hasLfsObjectsBeyond,
  insertLfsObjects,
  listLfsOids,
  listNetworkLfsObjects,
  listOwnLfsObjects,
} from './queries.ts'

/** Whether the project keeps large files here. */
export function isLfsOn(project: Pick<Project, 'settings'>): boolean {
  return project.settings.lfs_enabled !== false
}

/**
 * Those of the objects that the caller may read here, by id: their sizes. A fork network shares the bytes, not the right
 * to read them: what lies elsewhere in it counts only where the caller may download code (docs/contract/D §3.8).
 */
export async function findLfsObjects(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  project: Pick<Project, 'id'>,
  oids: readonly string[],
): Promise<Map<string, number>> {
  const known = await findOwn(ctx, project, oids)
  return new Map([...known, ...(await findElsewhere(ctx, project, lacking(oids, known)))])
}

/**
 * As `findLfsObjects`, for somebody who may push here: what the caller reads elsewhere in the network becomes an object
 * of this project as well, so that whoever may read the project can read it.
 */
export async function adoptLfsObjects(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  project: Pick<Project, 'id'>,
  oids: readonly string[],
): Promise<Map<string, number>> {
  const known = await findOwn(ctx, project, oids)
  const found = await findElsewhere(ctx, project, lacking(oids, known))
  const rows = [...found].map(([oid, size]) => ({ oid, size }))
  await insertLfsObjects(ctx.db, project.id, rows, ctx.now())
  return new Map([...known, ...found])
}

async function findOwn(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  oids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await listOwnLfsObjects(ctx.db, project.id, [...new Set(oids)])
  return new Map(rows.map(({ oid, size }) => [oid, size]))
}

async function findElsewhere(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  project: Pick<Project, 'id'>,
  oids: readonly string[],
): Promise<Map<string, number>> {
  if (oids.length === 0) return new Map()
  const rows = await listNetworkLfsObjects(ctx.db, project.id, networkViewer(ctx), oids)
  return new Map(rows.map(({ oid, size }) => [oid, size]))
}

/** A job may read what is public, not all that the user who started it may read. */
function networkViewer(ctx: Pick<Ctx, 'actor' | 'now'>): Viewer {
  const actor = ctx.actor.kind === 'job' ? ANONYMOUS : ctx.actor
  return viewerOf({ actor, now: ctx.now })
}

function lacking(oids: readonly string[], known: ReadonlyMap<string, number>): string[] {
  return [...new Set(oids)].filter((oid) => !known.has(oid))
}

/** Where the large files lie that the caller may read in the project, by id. */
export async function lfsFiles(
  ctx: Pick<Ctx, 'db' | 'files' | 'actor' | 'now'>,
  project: Pick<Project, 'id' | 'settings'>,
): Promise<Map<string, string>> {
  if (!isLfsOn(project)) return new Map()
  const oids = await listLfsOids(ctx.db, project.id, networkViewer(ctx))
  return new Map(oids.map((oid) => [oid, ctx.files.pathOf(oid)]))
}

/**
 * Keeps an uploaded object for a project: only bytes that are what the caller said, so that nobody comes by an object of
 * another project by naming it (docs/faults 76). Otherwise 422, and nothing is kept.
 */
export async function storeLfsObject(
  ctx: Pick<Ctx, 'db' | 'files' | 'now'>,
  project: Pick<Project, 'id'>,
  object: LfsPointer,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  await ctx.files.put(noMoreThan(object.size, body), {
    check({ sha256, size }) {
      if (size !== object.size) throw unlike(`The size is ${size}, not ${object.size}.`)
      if (sha256 !== object.oid) throw unlike('The content does not match its id.')
    },
  })
  await insertLfsObjects(ctx.db, project.id, [object], ctx.now()).catch((error: unknown) => {
    // The project went while its file was on the way (docs/faults 49).
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'SQLITE_CONSTRAINT_FOREIGNKEY') throw error
    throw new Problem('not_found', 404, { message: 'Project not found' })
  })
}

/** Stops at the first byte too many: nobody fills the disk with what will be thrown away. */
async function* noMoreThan(
  size: number,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let seen = 0
  for await (const chunk of body) {
    seen += chunk.byteLength
    if (seen > size) throw unlike(`There are more bytes than ${size}.`)
    yield chunk
  }
}

function unlike(message: string): Problem {
  return new Problem('unprocessable', 422, { message })
}

/** Gives a new fork what its parent has. */
export async function shareLfsObjects(
  ctx: Pick<Ctx, 'db'>,
  parentId: number,
  forkId: number,
  now: Instant,
): Promise<void> {
  await copyLfsObjects(ctx.db, parentId, forkId, now)
}

/** The first of the objects of a push that neither the project has nor the caller may read elsewhere in its network, or that is lost. */
export async function findMissing(
  ctx: Pick<Ctx, 'db' | 'files' | 'log' | 'actor' | 'now'>,
  project: Pick<Project, 'id'>,
  pointers: readonly LfsPointer[],
): Promise<LfsPointer | undefined> {
  if (pointers.length === 0) return undefined
  const oids = pointers.map(({ oid }) => oid)
  const known = await adoptLfsObjects(ctx, project, oids)
  const lost = await findLost(ctx, known)
  return pointers.find(({ oid }) => !known.has(oid) || lost.has(oid))
}

/** Those of the objects whose bytes are not in the store of files any more, each named in the log. */
export async function findLost(
  ctx: Pick<Ctx, 'files' | 'log'>,
  objects: ReadonlyMap<string, number>,
): Promise<ReadonlySet<string>> {
  const lost = new Set<string>()
  for (const [oid, size] of objects) {
    if ((await ctx.files.sizeOf(oid)) === size) continue
    lost.add(oid)
    ctx.log.error('a large file is not in the store', { oid })
  }
  return lost
}

/**
 * Gives a project the large files of commits that were fetched from another of its network and that none of its refs
 * reaches yet: a merge request shows them to readers of the target.
 */
export async function shareFetchedObjects(
  ctx: Pick<Ctx, 'db' | 'git' | 'now'>,
  fromId: number,
  toId: number,
  tip: ObjectId,
  signal?: AbortSignal,
): Promise<void> {
  if (fromId === toId || !(await hasLfsObjectsBeyond(ctx.db, fromId, toId))) return
  const pointers = await readFetchedPointers(ctx.git.open(toId), tip, signal)
  const oids = pointers.map(({ oid }) => oid)
  const rows = await listOwnLfsObjects(ctx.db, fromId, oids)
  await insertLfsObjects(ctx.db, toId, rows, ctx.now())
}
