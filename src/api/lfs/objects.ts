import type { Project } from '../../access/subjects.ts'
import type { Instant } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { LfsPointer } from '../../git/lfs-pointer.ts'
import {
  copyLfsObjects,
  insertLfsObject,
  listLfsObjects,
  listLfsOids,
  sumLfsObjects,
} from './queries.ts'

/** Whether the project keeps large files here. */
export function isLfsOn(project: Pick<Project, 'settings'>): boolean {
  return project.settings.lfs_enabled !== false
}

/** Those of the objects that the fork network of the project has, by id: their sizes. */
export async function findLfsObjects(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  oids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await listLfsObjects(ctx.db, project.id, [...new Set(oids)])
  return new Map(rows.map(({ oid, size }) => [oid, size]))
}

/** Where the project's large files lie, by id. */
export async function lfsFiles(
  ctx: Pick<Ctx, 'db' | 'files'>,
  project: Pick<Project, 'id' | 'settings'>,
): Promise<Map<string, string>> {
  if (!isLfsOn(project)) return new Map()
  const oids = await listLfsOids(ctx.db, project.id)
  return new Map(oids.map((oid) => [oid, ctx.files.pathOf(oid)]))
}

/**
 * Keeps an uploaded object for a project: only bytes that are what the caller said, so that nobody comes by an object of
 * another project by naming it (FAULTS 76). Otherwise 422, and nothing is kept.
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
  await insertLfsObject(ctx.db, project.id, object, ctx.now()).catch((error: unknown) => {
    // The project went while its file was on the way (FAULTS 49).
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

/** Bytes of the large files of projects, by project. */
export function lfsSizes(
  ctx: Pick<Ctx, 'db'>,
  projectIds: readonly number[],
): Promise<Map<number, number>> {
  return sumLfsObjects(ctx.db, projectIds)
}

/** The first of the objects that the network lacks. */
export async function findMissing(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  pointers: readonly LfsPointer[],
): Promise<LfsPointer | undefined> {
  if (pointers.length === 0) return undefined
  const oids = pointers.map(({ oid }) => oid)
  const known = await findLfsObjects(ctx, project, oids)
  return pointers.find(({ oid }) => !known.has(oid))
}
