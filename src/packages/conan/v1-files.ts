import type { Project } from '../../access/subjects.ts'
import { badRequest, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findInstallable, type PackageFileRow } from '../registry/find.ts'
import { listFilesAt } from './queries.ts'
import {
  assertPackageId,
  isFileName,
  keyOf,
  MANIFEST,
  type Place,
  type Recipe,
} from './reference.ts'

/** Protocol 1 knows one revision of everything. */
const ONLY = '0'

export function onlyPlace(pid?: string): Place {
  return pid === undefined ? { rrev: ONLY } : { rrev: ONLY, pid, prev: ONLY }
}

/** The newest file of each name. */
async function filesOf(ctx: Ctx, project: Project, recipe: Recipe, pid: string | undefined) {
  const row = await findInstallable(ctx, project, keyOf(recipe))
  const files = row ? await listFilesAt(ctx.db, row.id, onlyPlace(pid)) : []
  return new Map<string, PackageFileRow>(files.map((file) => [file.file_name, file]))
}

/** The MD5 of each file; nothing for what is not there. */
export async function readSnapshot(ctx: Ctx, project: Project, recipe: Recipe, pid?: string) {
  const files = await filesOf(ctx, project, recipe, pid)
  return Object.fromEntries([...files].map(([name, file]) => [name, file.file_md5]))
}

/** Where each file is downloaded, or only the manifest; 404 without any. */
export async function readAddresses(
  ctx: Ctx,
  project: Project,
  recipe: Recipe,
  at: { readonly root: string; readonly pid?: string; readonly manifestOnly: boolean },
) {
  const files = await filesOf(ctx, project, recipe, at.pid)
  const names = [...files.keys()].filter((name) => !at.manifestOnly || name === MANIFEST)
  if (names.length === 0) throw notFound('Package')
  return addressesOf(at.root, recipe, names, at.pid)
}

/** Where each of these files is uploaded; names that no such place has are left out. */
export function uploadAddresses(
  root: string,
  recipe: Recipe,
  sizes: Readonly<Record<string, unknown>>,
  pid?: string,
) {
  assertPackageId(pid)
  const names = Object.keys(sizes)
  if (names.length > 100) throw badRequest('too many files')
  const known = names.filter((name) => isFileName(name, onlyPlace(pid)))
  return addressesOf(root, recipe, known, pid)
}

function addressesOf(root: string, recipe: Recipe, names: readonly string[], pid?: string) {
  const { name, version, user, channel } = recipe
  const parts = [name, version, user, channel].map(encodeURIComponent).join('/')
  const at = `${root}/files/${parts}/${ONLY}`
  const folder = pid === undefined ? `${at}/export` : `${at}/package/${pid}/${ONLY}`
  return Object.fromEntries(names.map((one) => [one, `${folder}/${one}`]))
}

/** The sizes that a client says its files have, as the body of a request. */
export function readSizes(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw new Problem('bad_request', 400, { message: '400 Bad request - the body is no JSON object' })
}
