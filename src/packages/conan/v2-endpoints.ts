import type { Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { conanRead, conanWrite, onConanRecipe } from './access.ts'
import { asJson } from './common-endpoints.ts'
import {
  answerFile,
  deletePackages,
  deleteRecipeRevision,
  getRecipe,
  readFileNames,
  uploadFile,
} from './files.ts'
import { listRevisions } from './queries.ts'
import { assertRevision, type Recipe, readRecipe, textOf } from './reference.ts'
import { readPackageInfos } from './search.ts'

const json = bytes('application/json')
const word = text({ max: 255 })
const RECIPE =
  '/projects/:id/packages/conan/v2/conans/:recipe_name/:recipe_version/:recipe_user/:recipe_channel'
const REVISION = `${RECIPE}/revisions/:recipe_revision` as const
const PACKAGE = `${REVISION}/packages/:package_id` as const
const PACKAGE_REVISION = `${PACKAGE}/revisions/:package_revision` as const

const inRecipe = {
  recipe_name: word,
  recipe_version: word,
  recipe_user: word,
  recipe_channel: word,
}
const inRevision = { ...inRecipe, recipe_revision: word }
const inPackage = { ...inRevision, package_id: word }
const inPackageRevision = { ...inPackage, package_revision: word }
const MOST_REVISIONS = 1000

const read = {
  ...conanRead,
  method: 'GET',
  access: onConanRecipe('project', 'read_packages'),
} as const
const write = {
  ...conanWrite,
  method: 'PUT',
  access: onConanRecipe('project', 'write_package'),
} as const
const remove = {
  ...conanWrite,
  method: 'DELETE',
  access: onConanRecipe('project', 'delete_package'),
} as const

async function revisions(
  ctx: Ctx,
  project: Project,
  recipe: Recipe,
  of: { readonly rrev?: string; readonly pid?: string },
  most = MOST_REVISIONS,
) {
  const row = await getRecipe(ctx, project, recipe)
  const found = await listRevisions(ctx.db, row.id, of, most)
  if (found.length === 0) throw notFound('Revision')
  return found
}

export const getLatestConanRecipe = endpoint({
  ...read,
  path: `${RECIPE}/latest`,
  summary: 'Get the newest revision of a Conan recipe',
  params: inRecipe,
  response: json,
  handler: async ({ ctx, project, params }) =>
    asJson((await revisions(ctx, project, readRecipe(params), {}, 1))[0]),
})

export const listConanRecipeRevisions = endpoint({
  ...read,
  path: `${RECIPE}/revisions`,
  summary: 'List the revisions of a Conan recipe, the newest first',
  params: inRecipe,
  response: json,
  async handler({ ctx, project, params }) {
    const recipe = readRecipe(params)
    const found = await revisions(ctx, project, recipe, {})
    return asJson({ reference: textOf(recipe), revisions: found })
  },
})

export const listConanRecipeFiles = endpoint({
  ...read,
  path: `${REVISION}/files`,
  summary: 'List the files of a revision of a Conan recipe',
  params: inRevision,
  response: json,
  handler: async ({ ctx, project, params }) =>
    asJson(await readFileNames(ctx, project, readRecipe(params), { rrev: params.recipe_revision })),
})

export const getConanRecipeFile = endpoint({
  ...read,
  path: `${REVISION}/files/:file_name`,
  summary: 'Download a file of a Conan recipe',
  params: { ...inRevision, file_name: word },
  response: bytes('application/octet-stream'),
  handler({ ctx, project, params, request }) {
    const place = { rrev: params.recipe_revision }
    const target = { recipe: readRecipe(params), place, fileName: params.file_name }
    return answerFile(ctx, project, target, request)
  },
})

export const putConanRecipeFile = endpoint({
  ...write,
  path: `${REVISION}/files/:file_name`,
  summary: 'Publish a file of a Conan recipe',
  params: { ...inRevision, file_name: word },
  raw: true,
  response: json,
  async handler({ ctx, project, params, request }) {
    assertRevision(params.recipe_revision)
    const place = { rrev: params.recipe_revision }
    const target = { recipe: readRecipe(params), place, fileName: params.file_name }
    await uploadFile(ctx, project, target, request)
    return asJson({})
  },
})

export const searchConanRecipe = endpoint({
  ...read,
  path: `${RECIPE}/search`,
  summary: 'List the packages of a Conan recipe',
  params: inRecipe,
  response: json,
  handler: async ({ ctx, project, params }) =>
    asJson(await readPackageInfos(ctx, project, readRecipe(params))),
})

export const searchConanRevision = endpoint({
  ...read,
  path: `${REVISION}/search`,
  summary: 'List the packages of a revision of a Conan recipe',
  params: inRevision,
  response: json,
  handler: async ({ ctx, project, params }) =>
    asJson(await readPackageInfos(ctx, project, readRecipe(params), params.recipe_revision)),
})

export const deleteConanRevision = endpoint({
  ...remove,
  path: REVISION,
  summary: 'Delete a revision of a Conan recipe with its packages',
  params: inRevision,
  response: json,
  async handler({ ctx, project, params }) {
    await deleteRecipeRevision(ctx, project, readRecipe(params), params.recipe_revision)
    return asJson({})
  },
})

export const deleteConanPackages = endpoint({
  ...remove,
  path: `${REVISION}/packages`,
  summary: 'Delete the packages of a revision of a Conan recipe',
  params: inRevision,
  response: json,
  async handler({ ctx, project, params }) {
    await deletePackages(ctx, project, readRecipe(params), { rrev: params.recipe_revision })
    return asJson({})
  },
})

export const deleteConanPackage = endpoint({
  ...remove,
  path: PACKAGE,
  summary: 'Delete a package of a Conan recipe',
  params: inPackage,
  response: json,
  async handler({ ctx, project, params }) {
    const place = { rrev: params.recipe_revision, pid: params.package_id }
    await deletePackages(ctx, project, readRecipe(params), place)
    return asJson({})
  },
})

export const getLatestConanPackage = endpoint({
  ...read,
  path: `${PACKAGE}/latest`,
  summary: 'Get the newest revision of a package of a Conan recipe',
  params: inPackage,
  response: json,
  async handler({ ctx, project, params }) {
    const of = { rrev: params.recipe_revision, pid: params.package_id }
    return asJson((await revisions(ctx, project, readRecipe(params), of, 1))[0])
  },
})

export const listConanPackageRevisions = endpoint({
  ...read,
  path: `${PACKAGE}/revisions`,
  summary: 'List the revisions of a package of a Conan recipe, the newest first',
  params: inPackage,
  response: json,
  async handler({ ctx, project, params }) {
    const recipe = readRecipe(params)
    const of = { rrev: params.recipe_revision, pid: params.package_id }
    const found = await revisions(ctx, project, recipe, of)
    const packageReference = `${textOf(recipe)}#${of.rrev}:${of.pid}`
    return asJson({ packageReference, revisions: found })
  },
})

interface PackageParams {
  readonly recipe_revision: string
  readonly package_id: string
  readonly package_revision: string
}

function placeOf(params: PackageParams) {
  return { rrev: params.recipe_revision, pid: params.package_id, prev: params.package_revision }
}

export const listConanPackageFiles = endpoint({
  ...read,
  path: `${PACKAGE_REVISION}/files`,
  summary: 'List the files of a package of a Conan recipe',
  params: inPackageRevision,
  response: json,
  handler: async ({ ctx, project, params }) =>
    asJson(await readFileNames(ctx, project, readRecipe(params), placeOf(params))),
})

export const getConanPackageFile = endpoint({
  ...read,
  path: `${PACKAGE_REVISION}/files/:file_name`,
  summary: 'Download a file of a package of a Conan recipe',
  params: { ...inPackageRevision, file_name: word },
  response: bytes('application/octet-stream'),
  handler({ ctx, project, params, request }) {
    const target = {
      recipe: readRecipe(params),
      place: placeOf(params),
      fileName: params.file_name,
    }
    return answerFile(ctx, project, target, request)
  },
})

export const putConanPackageFile = endpoint({
  ...write,
  path: `${PACKAGE_REVISION}/files/:file_name`,
  summary: 'Publish a file of a package of a Conan recipe',
  params: { ...inPackageRevision, file_name: word },
  raw: true,
  response: json,
  async handler({ ctx, project, params, request }) {
    assertRevision(params.recipe_revision)
    assertRevision(params.package_revision)
    const target = {
      recipe: readRecipe(params),
      place: placeOf(params),
      fileName: params.file_name,
    }
    await uploadFile(ctx, project, target, request)
    return asJson({})
  },
})

export const deleteConanPackageRevision = endpoint({
  ...remove,
  path: PACKAGE_REVISION,
  summary: 'Delete a revision of a package of a Conan recipe',
  params: inPackageRevision,
  response: json,
  async handler({ ctx, project, params }) {
    await deletePackages(ctx, project, readRecipe(params), placeOf(params))
    return asJson({})
  },
})
