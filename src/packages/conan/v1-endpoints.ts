import { bytes, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { readSmallBody } from '../registry/receive.ts'
import { removePackage } from '../registry/remove.ts'
import { conanRead, conanWrite, type Level, onConanRecipe } from './access.ts'
import { asJson } from './common-endpoints.ts'
import { answerFile, getRecipe, uploadFile } from './files.ts'
import { readRecipe } from './reference.ts'
import { readPackageInfos } from './search.ts'
import { onlyPlace, readAddresses, readSizes, readSnapshot, uploadAddresses } from './v1-files.ts'

const json = bytes('application/json')
const file = bytes('application/octet-stream')
const word = text({ max: 255 })
const MOST_SIZES = 64 * 1024
const RECIPE = ':recipe_name/:recipe_version/:recipe_user/:recipe_channel'

const inRecipe = {
  recipe_name: word,
  recipe_version: word,
  recipe_user: word,
  recipe_channel: word,
}
const inPackage = { ...inRecipe, package_id: word }

/** The addresses in answers begin like the one that was asked. */
const rootOf = (url: string) => url.slice(0, url.indexOf('/conan/v1/') + '/conan/v1'.length)

/** Protocol 1: reading, below a project or below the server. */
function reading(level: Level): Endpoint[] {
  const root = level === 'project' ? '/projects/:id/packages/conan/v1' : '/packages/conan/v1'
  const at = `${root}/conans/${RECIPE}` as `/projects/:id/conans/${typeof RECIPE}`
  const pkg = `${at}/packages/:package_id` as const
  const access = onConanRecipe(level, 'read_packages')
  const read = { ...conanRead, method: 'GET', access, response: json } as const
  const addresses = (['digest', 'download_urls'] as const).flatMap((kind) => {
    const manifestOnly = kind === 'digest'
    const what = manifestOnly ? 'the manifest' : 'the files'
    return [
      endpoint({
        ...read,
        path: `${at}/${kind}`,
        summary: `Get where ${what} of a Conan recipe can be downloaded (protocol 1)`,
        params: inRecipe,
        async handler({ ctx, project, params, request }) {
          const options = { root: rootOf(request.url), manifestOnly }
          return asJson(await readAddresses(ctx, project, readRecipe(params), options))
        },
      }),
      endpoint({
        ...read,
        path: `${pkg}/${kind}`,
        summary: `Get where ${what} of a Conan package can be downloaded (protocol 1)`,
        params: inPackage,
        async handler({ ctx, project, params, request }) {
          const options = { root: rootOf(request.url), pid: params.package_id, manifestOnly }
          return asJson(await readAddresses(ctx, project, readRecipe(params), options))
        },
      }),
    ]
  })
  return [
    ...addresses,
    endpoint({
      ...read,
      path: at,
      summary: 'Get the hashes of the files of a Conan recipe (protocol 1)',
      params: inRecipe,
      handler: async ({ ctx, project, params }) =>
        asJson(await readSnapshot(ctx, project, readRecipe(params))),
    }),
    endpoint({
      ...read,
      path: pkg,
      summary: 'Get the hashes of the files of a Conan package (protocol 1)',
      params: inPackage,
      handler: async ({ ctx, project, params }) =>
        asJson(await readSnapshot(ctx, project, readRecipe(params), params.package_id)),
    }),
    endpoint({
      ...read,
      path: `${at}/search`,
      summary: 'List the packages of a Conan recipe (protocol 1)',
      params: inRecipe,
      handler: async ({ ctx, project, params }) =>
        asJson(await readPackageInfos(ctx, project, readRecipe(params))),
    }),
  ]
}

/** Protocol 1: uploading and deleting. */
function writing(level: Level): Endpoint[] {
  const root = level === 'project' ? '/projects/:id/packages/conan/v1' : '/packages/conan/v1'
  const at = `${root}/conans/${RECIPE}` as `/projects/:id/conans/${typeof RECIPE}`
  const access = onConanRecipe(level, 'write_package')
  const ask = { ...conanWrite, method: 'POST', status: 200, access, response: json } as const
  return [
    endpoint({
      ...ask,
      path: `${at}/upload_urls`,
      summary: 'Get where the files of a Conan recipe are to be uploaded (protocol 1)',
      params: inRecipe,
      raw: true,
      async handler({ params, request }) {
        const sizes = readSizes(await readSmallBody(request, MOST_SIZES))
        return asJson(uploadAddresses(rootOf(request.url), readRecipe(params), sizes))
      },
    }),
    endpoint({
      ...ask,
      path: `${at}/packages/:package_id/upload_urls`,
      summary: 'Get where the files of a Conan package are to be uploaded (protocol 1)',
      params: inPackage,
      raw: true,
      async handler({ params, request }) {
        const sizes = readSizes(await readSmallBody(request, MOST_SIZES))
        const recipe = readRecipe(params)
        return asJson(uploadAddresses(rootOf(request.url), recipe, sizes, params.package_id))
      },
    }),
    endpoint({
      ...conanWrite,
      method: 'DELETE',
      access: onConanRecipe(level, 'delete_package'),
      path: at,
      summary: 'Delete a Conan recipe with everything (protocol 1)',
      params: inRecipe,
      response: json,
      async handler({ ctx, project, params }) {
        await removePackage(ctx, project, await getRecipe(ctx, project, readRecipe(params)))
        return asJson({})
      },
    }),
  ]
}

/** Protocol 1: the files themselves. */
function transferring(level: Level): Endpoint[] {
  const root = level === 'project' ? '/projects/:id/packages/conan/v1' : '/packages/conan/v1'
  const at = `${root}/files/${RECIPE}/0` as `/projects/:id/files/${typeof RECIPE}/0`
  const get = {
    ...conanRead,
    method: 'GET',
    access: onConanRecipe(level, 'read_packages'),
  } as const
  const put = {
    ...conanWrite,
    method: 'PUT',
    access: onConanRecipe(level, 'write_package'),
  } as const
  const ofRecipe = {
    path: `${at}/export/:file_name`,
    params: { ...inRecipe, file_name: word },
  } as const
  const ofPackage = {
    path: `${at}/package/:package_id/0/:file_name`,
    params: { ...inPackage, file_name: word },
  } as const
  return [
    endpoint({
      ...get,
      ...ofRecipe,
      summary: 'Download a file of a Conan recipe (protocol 1)',
      response: file,
      handler({ ctx, project, params, request }) {
        const recipe = readRecipe(params)
        const target = { recipe, place: onlyPlace(), fileName: params.file_name }
        return answerFile(ctx, project, target, request)
      },
    }),
    endpoint({
      ...get,
      ...ofPackage,
      summary: 'Download a file of a Conan package (protocol 1)',
      response: file,
      handler({ ctx, project, params, request }) {
        const place = onlyPlace(params.package_id)
        const target = { recipe: readRecipe(params), place, fileName: params.file_name }
        return answerFile(ctx, project, target, request)
      },
    }),
    endpoint({
      ...put,
      ...ofRecipe,
      summary: 'Publish a file of a Conan recipe (protocol 1)',
      raw: true,
      response: json,
      async handler({ ctx, project, params, request }) {
        const recipe = readRecipe(params)
        const target = { recipe, place: onlyPlace(), fileName: params.file_name }
        await uploadFile(ctx, project, target, request)
        return asJson({})
      },
    }),
    endpoint({
      ...put,
      ...ofPackage,
      summary: 'Publish a file of a Conan package (protocol 1)',
      raw: true,
      response: json,
      async handler({ ctx, project, params, request }) {
        const place = onlyPlace(params.package_id)
        const target = { recipe: readRecipe(params), place, fileName: params.file_name }
        await uploadFile(ctx, project, target, request)
        return asJson({})
      },
    }),
  ]
}

export const conanV1 = (['project', 'instance'] as const).flatMap((level) => [
  ...reading(level),
  ...writing(level),
  ...transferring(level),
])
