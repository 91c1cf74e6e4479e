import type { Project } from '../../access/subjects.ts'
import { badRequest, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { answerPackageFile } from '../registry/download.ts'
import { findInstallable, type PackageRow } from '../registry/find.ts'
import { publishFile } from '../registry/publish.ts'
import { findPackageRow } from '../registry/queries.ts'
import { type ReceivedFile, receiveFile } from '../registry/receive.ts'
import { removeFiles, removePackage } from '../registry/remove.ts'
import { readConanInfo } from './info.ts'
import { findFileAt, listFilesAt, listFilesBelow, listRevisions } from './queries.ts'
import {
  assertPackageId,
  fullName,
  INFO,
  isFileName,
  keyOf,
  MANIFEST,
  type Place,
  type Recipe,
} from './reference.ts'

const MOST_INFO = 64 * 1024
const MOST_FILES = 1000

/** A file of a revision. */
interface Target {
  readonly recipe: Recipe
  readonly place: Place
  readonly fileName: string
}

/** The recipe that clients may install from a project; 404 when there is none. */
export async function getRecipe(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  recipe: Recipe,
): Promise<PackageRow> {
  const row = await findInstallable(ctx, project, keyOf(recipe))
  if (!row) throw notFound('Package')
  return row
}

/** Takes in one file; the recipe is seen once the manifest is there, which comes last. */
export async function uploadFile(
  ctx: Ctx,
  project: Project,
  target: Target,
  request: Pick<RequestFacts, 'headers' | 'body'>,
): Promise<void> {
  const { recipe, place, fileName } = target
  assertPackageId(place.pid)
  if (!isFileName(fileName, place)) throw badRequest('the file name is invalid')
  // Clients ask first whether the bytes are known by their hash; here they never are.
  if (request.headers['x-checksum-deploy'] === 'true') throw notFound('Package file')
  const received = await receiveFile(ctx, 'conan', request)
  const info = fileName === INFO ? { info: await readInfo(ctx, received) } : {}
  const isOnce = place.rrev !== '0'
  if (isOnce && (await isSentAgain(ctx, project, target, received))) return
  const isWhole = fileName === MANIFEST && place.pid === undefined
  await publishFile(ctx, project, {
    type: 'conan',
    name: fullName(recipe),
    version: recipe.version,
    status: 'processing',
    setStatus: isWhole ? 'default' : undefined,
    file: { name: fileName, received, metadata: { ...place, ...info } },
    async check(db) {
      if (!isOnce) return
      const known = await findPackageRow(db, project.id, keyOf(recipe))
      if (known && (await findFileAt(db, known.id, place, fileName))) {
        throw badRequest('the file is there already')
      }
    },
  })
}

/** A client that broke off, or got no answer, sends the same bytes once more: its revision has no manifest yet. */
async function isSentAgain(
  { db }: Ctx,
  project: Project,
  { recipe, place, fileName }: Target,
  { sha256 }: ReceivedFile,
): Promise<boolean> {
  const known = await findPackageRow(db, project.id, keyOf(recipe))
  if (!known || (await findFileAt(db, known.id, place, MANIFEST))) return false
  return (await findFileAt(db, known.id, place, fileName))?.file_sha256 === sha256
}

async function readInfo(ctx: Ctx, received: ReceivedFile) {
  if (received.size > MOST_INFO) throw badRequest(`${INFO} is too large`)
  return readConanInfo((await ctx.files.read(received.sha256)).toString('utf8'))
}

/** Streams one file of a revision. */
export async function answerFile(
  ctx: Ctx,
  project: Project,
  target: Target,
  request: RequestFacts,
): Promise<Bytes> {
  const row = await getRecipe(ctx, project, target.recipe)
  const file = await findFileAt(ctx.db, row.id, target.place, target.fileName)
  if (!file) throw notFound('Package file')
  return await answerPackageFile(ctx, request, file)
}

/** The names of the files of a revision; 404 without any. */
export async function readFileNames(
  ctx: Ctx,
  project: Project,
  recipe: Recipe,
  place: Place,
): Promise<{ files: Record<string, object> }> {
  const row = await getRecipe(ctx, project, recipe)
  const files = await listFilesAt(ctx.db, row.id, place)
  if (files.length === 0) throw notFound('Revision')
  return { files: Object.fromEntries(files.map((file) => [file.file_name, {}])) }
}

/** Deletes a revision of a recipe with its packages; with the last one, the recipe. */
export async function deleteRecipeRevision(
  ctx: Ctx,
  project: Project,
  recipe: Recipe,
  rrev: string,
): Promise<void> {
  const row = await getRecipe(ctx, project, recipe)
  const files = await listFilesBelow(ctx.db, row.id, rrev)
  if (files.length === 0) throw notFound('Revision')
  const revisions = await listRevisions(ctx.db, row.id, {}, 2)
  if (revisions.every((one) => one.revision === rrev)) return removePackage(ctx, project, row)
  await dropSome(ctx, project, row, files)
}

/** Deletes packages of a recipe revision: all, those of one id, or one revision of that. */
export async function deletePackages(
  ctx: Ctx,
  project: Project,
  recipe: Recipe,
  place: Place,
): Promise<void> {
  const row = await getRecipe(ctx, project, recipe)
  const { rrev, pid, prev } = place
  const found =
    prev === undefined
      ? await packageFiles(ctx, row, rrev, pid)
      : await listFilesAt(ctx.db, row.id, place)
  if (found.length === 0 && pid !== undefined) throw notFound('Package')
  if (found.length > 0) await dropSome(ctx, project, row, found)
}

async function packageFiles(ctx: Ctx, row: PackageRow, rrev: string, pid: string | undefined) {
  const own = pid === undefined ? await listFilesAt(ctx.db, row.id, { rrev }) : []
  const kept = new Set(own.map((file) => file.id))
  const below = await listFilesBelow(ctx.db, row.id, rrev, pid)
  return below.filter((file) => !kept.has(file.id))
}

async function dropSome(
  ctx: Ctx,
  project: Project,
  row: PackageRow,
  files: readonly { readonly id: number }[],
): Promise<void> {
  if (files.length > MOST_FILES) {
    const message = 'Cannot delete more than 1000 files'
    throw new Problem('unprocessable', 422, { message })
  }
  await removeFiles(ctx, project, row, files)
}
